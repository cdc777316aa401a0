import {SvcError} from '../../errors/index.js'
import {type MeshOperation, routes} from '../protocol/routes.js'
import {MeshHttpError, type ReportedProblem, refusalOf, snippetOf} from './error.js'
import {pause} from './pause.js'
import {type Redactor, redactor} from './redactor.js'
import type {CallOptions} from './requests.js'
import {
  deadlineFactor,
  isOfGateway,
  isTransientFault,
  isTransientStatus,
  mayHaveArrived,
  mostAttempts,
  readRetryAfter,
  retryDelayMs,
} from './retry.js'
import {chooseToken, type MeshTokens, secretsOf, variablesFor} from './tokens.js'
import {type Answer, ExchangeFault, type Transport} from './transport.js'

/** What every call of a client works with. */
export interface Caller {
  readonly baseUrl: string
  /** What is shown; newer ones may take their place. */
  tokens: MeshTokens
  /** Those there are by now, where they are kept in a place that changes. */
  readonly freshTokens?: (() => MeshTokens | undefined) | undefined
  readonly timeoutMs: number
  readonly retry: boolean
  readonly transport: Transport
  /** 0 to 1. */
  readonly random: () => number
}

export interface Call extends CallOptions {
  /** Sent as JSON, without its members that are undefined. */
  body?: object | undefined
  query?: Readonly<Record<string, string | number | undefined>> | undefined
  /** The token to show, where it is not that of the plane. */
  token?: string | undefined
  /** It has an idempotency key. */
  isKeyed?: boolean | undefined
  /** Time that the control plane was asked to take. */
  waitMs?: number | undefined
}

/** An answer that is no refusal, and what is needed to speak of it. */
export interface Reply extends Answer {
  readonly operation: MeshOperation
  /** Of the control plane. */
  readonly baseUrl: string
  readonly url: string
  /** Whether a token was shown. */
  readonly hasToken: boolean
  readonly redact: Redactor
}

/** Operations after which there is nothing left of what they were about. */
const endings: ReadonlySet<MeshOperation> = new Set([
  'leave',
  'exec_lease_release',
  'admin_exec_lease_revoke',
  'a2a_ack',
])

/**
 * Asks the control plane for one operation, again where that does no harm and may help: at most four times, within
 * three times what one request may take. What was to be ended, and is not there when it is asked for again after an
 * answer was lost, was ended by the request before.
 * @throws MeshHttpError; what the signal was aborted with
 */
export async function call(caller: Caller, operation: MeshOperation, request: Call): Promise<Reply> {
  const {retry = caller.retry, timeoutMs = caller.timeoutMs, waitMs = 0, signal} = request
  const {repeatable} = routes[operation]
  const mayRepeat = retry && (repeatable === 'keyed' ? request.isKeyed === true : repeatable)
  const endMs = performance.now() + timeoutMs * deadlineFactor + waitMs
  let mayBeDone = false
  let isRenewed = false
  for (let failed = 1; ; failed++) {
    const leftMs = endMs - performance.now()
    try {
      return await attempt(caller, operation, {...request, timeoutMs: Math.min(timeoutMs + waitMs, leftMs)})
    } catch (error) {
      if (!(error instanceof MeshHttpError)) throw error
      if (mayBeDone && error.isMissing && endings.has(operation)) return ended(caller, operation)
      if (!isRenewed && error.isStatus(401) && request.token === undefined && renewTokens(caller)) {
        // It was refused before anything was done, so that this is no repetition.
        isRenewed = true
        failed--
        continue
      }
      mayBeDone ||= error.mayBeDone
      if (!mayRepeat || !error.isTransient || failed >= mostAttempts) throw error
      const delayMs = retryDelayMs(failed, error.retryAfterMs, caller.random())
      if (delayMs === undefined || performance.now() + delayMs >= endMs) throw error
      await pause(delayMs, signal)
    }
  }
}

/** Takes the tokens that are kept by now; false where they are those that were shown. */
function renewTokens(caller: Caller): boolean {
  const fresh = caller.freshTokens?.()
  if (fresh === undefined || secretsOf(fresh).join() === secretsOf(caller.tokens).join()) return false
  caller.tokens = fresh
  return true
}

const ended = ({baseUrl, tokens}: Caller, operation: MeshOperation): Reply => ({
  status: 204,
  headers: {},
  text: '',
  operation,
  baseUrl,
  url: baseUrl,
  hasToken: false,
  redact: redactor(secretsOf(tokens)),
})

async function attempt(caller: Caller, operation: MeshOperation, request: Call & {timeoutMs: number}): Promise<Reply> {
  const {method, path, plane} = routes[operation]
  const url = `${caller.baseUrl}${path}${searchOf(request.query)}`
  const token = request.token ?? (await chooseToken(caller.tokens, plane))
  // Made where it is needed, which is seldom.
  const redact: Redactor = (text) => redactor([...secretsOf(caller.tokens), token ?? ''])(text)
  const answer = await caller.transport
    .exchange({
      method,
      url,
      headers: {
        accept: 'application/json',
        ...(request.body === undefined ? {} : {'content-type': 'application/json'}),
        ...(token === undefined ? {} : {authorization: `Bearer ${token}`}),
      },
      body: request.body === undefined ? undefined : JSON.stringify(request.body),
      timeoutMs: request.timeoutMs,
      signal: request.signal,
    })
    .catch((error: unknown) => {
      throw error instanceof ExchangeFault ? failedExchange(operation, error) : error
    })
  const reply = {...answer, operation, baseUrl: caller.baseUrl, url, hasToken: token !== undefined, redact}
  if (answer.status >= 300) throw refusal(reply)
  return reply
}

function searchOf(query: Call['query'] = {}): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.append(name, String(value))
  return search.size === 0 ? '' : `?${search}`
}

function failedExchange(context: MeshOperation, {cause, status, code}: ExchangeFault): MeshHttpError {
  return new MeshHttpError({
    kind: status === undefined ? 'transport' : 'io',
    context,
    cause,
    status,
    isTransient: isTransientFault(code),
    mayBeDone: mayHaveArrived(code),
  })
}

/** A refusal in any of the shapes there are: problem details, other JSON, a line of text, nothing. */
function refusal(reply: Reply): MeshHttpError {
  const {status, headers, text, operation, redact} = reply
  const problem = readProblem(text, redact)
  return new MeshHttpError({
    kind: 'http_status',
    context: operation,
    status,
    code: problem.code,
    cause: causeOf(reply, problem),
    isTransient: isTransientStatus(status),
    mayBeDone: isOfGateway(status),
    bodySnippet: snippetOf(text, redact),
    retryAfterMs: readRetryAfter(headers['retry-after'], {date: headers.date, nowMs: Date.now()}),
  })
}

function causeOf({status, text, operation, baseUrl, url, hasToken}: Reply, problem: ReportedProblem): SvcError {
  const {method, path, plane} = routes[operation]
  if (status < 400) return new SvcError('http_status', {url, status, detail: 'a redirect is not followed'})
  if (status === 404 && isElsewhere(operation, text, problem))
    return new SvcError('control_plane_missing', {
      url: baseUrl,
      reason: `what is there does not know ${method} ${path}`,
    })
  const variables = variablesFor(plane)
  if (status === 401 && !hasToken && variables.length > 0)
    return new SvcError('mesh_token_missing', {operation, variables})
  return refusalOf(operation, status, problem)
}

/** Operations on something that may not be there; of such a thing some control planes say nothing but the status. */
const lookups: ReadonlySet<MeshOperation> = new Set([
  ...endings,
  'heartbeat',
  'bootstrap_exchange',
  'exec_lease_renew',
  'exec_lease_verify',
  'admin_quarantine',
  'admin_maintenance',
  'a2a_lease_renew',
])

/** Whether it is the route that is not there, rather than a thing. */
const isElsewhere = (operation: MeshOperation, text: string, {code}: ReportedProblem): boolean =>
  code === undefined ? text.trim() !== '' || !lookups.has(operation) : code === 'route_unknown'

function readProblem(text: string, redact: Redactor): ReportedProblem {
  const said = (value: unknown) => (typeof value === 'string' ? sentenceOf(redact(value)) : undefined)
  try {
    const {code, detail, message, error, title} = Object(JSON.parse(text)) as Record<string, unknown>
    return {code: said(code), detail: [detail, message, error, title].map(said).find((each) => each !== undefined)}
  } catch {
    return {detail: said(text)}
  }
}

const longestSentence = 200

/** The first line, without the full stop, since a sentence goes on around it. */
const sentenceOf = (text: string): string | undefined =>
  text.trim().split(/\r?\n/)[0]?.slice(0, longestSentence).replace(/\.$/, '') || undefined
