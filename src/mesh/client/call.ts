import {SvcError} from '../../errors/index.js'
import {pause} from '../../process/index.js'
import {type MeshOperation, routes} from '../protocol/routes.js'
import {MeshHttpError, type ReportedProblem, refusalOf, snippetOf} from './error.js'
import {type Redactor, redactor} from './redactor.js'
import type {CallOptions} from './requests.js'
import {
  deadlineFactor,
  isOfGateway,
  isTransientFault,
  isTransientStatus,
  maxAttempts,
  mayHaveArrived,
  readRetryAfter,
  retryDelayMs,
} from './retry.js'
import {chooseToken, type MeshTokens, secretsOf, variablesFor} from './tokens.js'
import {type Answer, ExchangeError, type Transport} from './transport.js'

/** State shared by all calls of a client. */
export interface Caller {
  readonly baseUrl: string
  /** Current tokens; replaced when they are renewed. */
  tokens: MeshTokens
  /** Reads the tokens again from a source that may change. */
  readonly freshTokens?: (() => MeshTokens | undefined) | undefined
  readonly timeoutMs: number
  readonly retry: boolean
  readonly connectRetryMs: number | undefined
  readonly transport: Transport
  /** Number in [0, 1). */
  readonly random: () => number
}

export interface Call extends CallOptions {
  /** Sent as JSON, or unchanged if it is bytes. */
  body?: object | undefined
  /** Value of the parameter in the path. */
  parameter?: string | undefined
  query?: Readonly<Record<string, string | number | undefined>> | undefined
  headers?: Readonly<Record<string, string>> | undefined
  /** Token; default: the token for the plane. */
  token?: string | undefined
  /** True if the request has an idempotency key. */
  isKeyed?: boolean | undefined
  /** Long-poll wait requested from the control plane, ms. */
  waitMs?: number | undefined
}

/** Successful response, with the context for error messages. */
export interface Reply extends Answer {
  readonly operation: MeshOperation
  /** Body as UTF-8. */
  readonly text: string
  /** Address of the control plane. */
  readonly baseUrl: string
  readonly url: string
  /** True if a token was sent. */
  readonly hasToken: boolean
  readonly redact: Redactor
}

/** Operations that remove their subject. */
const endings: ReadonlySet<MeshOperation> = new Set([
  'leave',
  'exec_lease_release',
  'admin_exec_lease_revoke',
  'a2a_ack',
])

/**
 * Calls an operation of the control plane and retries transient errors if that is safe: up to four attempts within
 * three times the timeout of one request. A 404 after a lost response to a removal counts as success: the earlier
 * attempt has removed the subject.
 * @throws MeshHttpError; the reason of the signal
 */
export async function call(caller: Caller, operation: MeshOperation, request: Call): Promise<Reply> {
  const {retry = caller.retry, timeoutMs = caller.timeoutMs, waitMs = 0, signal} = request
  const {repeatable} = routes[operation]
  const mayRepeat = retry && (repeatable === 'keyed' ? request.isKeyed === true : repeatable)
  const startMs = performance.now()
  const endMs = startMs + timeoutMs * deadlineFactor + waitMs
  const connectEndMs = Math.min(endMs, startMs + (caller.connectRetryMs ?? Number.POSITIVE_INFINITY))
  let mayBeDone = false
  let isRenewed = false
  let latest: MeshHttpError | undefined
  for (let failed = 1; ; failed++) {
    const leftMs = endMs - performance.now()
    // A busy process can wake up from the pause after the deadline.
    if (latest !== undefined && leftMs <= 0) throw latest
    try {
      return await attempt(caller, operation, {...request, timeoutMs: Math.min(timeoutMs + waitMs, leftMs)})
    } catch (error) {
      if (!(error instanceof MeshHttpError)) throw error
      latest = error
      if (mayBeDone && error.isMissing && endings.has(operation)) return ended(caller, operation)
      if (!isRenewed && error.isStatus(401) && request.token === undefined && renewTokens(caller)) {
        // The request was refused before it took effect, so this does not count as a retry.
        isRenewed = true
        failed--
        continue
      }
      mayBeDone ||= error.mayBeDone
      if (!mayRepeat || !error.isTransient || failed >= maxAttempts) throw error
      const delayMs = retryDelayMs(failed, error.retryAfterMs, caller.random())
      const isConnected = error.kind !== 'transport' || error.mayBeDone
      if (delayMs === undefined || performance.now() + delayMs >= (isConnected ? endMs : connectEndMs)) throw error
      await pause(delayMs, signal)
    }
  }
}

/** Replaces the tokens by those read again; false if they have not changed. */
function renewTokens(caller: Caller): boolean {
  const fresh = caller.freshTokens?.()
  if (fresh === undefined || secretsOf(fresh).join() === secretsOf(caller.tokens).join()) return false
  caller.tokens = fresh
  return true
}

const ended = ({baseUrl, tokens}: Caller, operation: MeshOperation): Reply => ({
  status: 204,
  headers: {},
  bytes: Buffer.alloc(0),
  text: '',
  operation,
  baseUrl,
  url: baseUrl,
  hasToken: false,
  redact: redactor(secretsOf(tokens)),
})

async function attempt(caller: Caller, operation: MeshOperation, request: Call & {timeoutMs: number}): Promise<Reply> {
  const {method, path, plane} = routes[operation]
  const {body, parameter = ''} = request
  const url = `${caller.baseUrl}${path.replace(/\{\w+\}/, encodeURIComponent(parameter))}${searchOf(request.query)}`
  const token = request.token ?? (await chooseToken(caller.tokens, plane))
  // Created lazily: it is only needed for errors.
  const redact: Redactor = (text) => redactor([...secretsOf(caller.tokens), token ?? ''])(text)
  const answer = await caller.transport
    .exchange({
      method,
      url,
      headers: {
        accept: 'application/json, application/octet-stream',
        ...(body === undefined ? {} : {'content-type': `application/${isBytes(body) ? 'octet-stream' : 'json'}`}),
        ...(token === undefined ? {} : {authorization: `Bearer ${token}`}),
        ...request.headers,
      },
      body: body === undefined || isBytes(body) ? body : JSON.stringify(body),
      timeoutMs: request.timeoutMs,
      signal: request.signal,
    })
    .catch((error: unknown) => {
      throw error instanceof ExchangeError ? failedExchange(operation, error) : error
    })
  const reply = {
    ...answer,
    // Decoded lazily, because a file is not text.
    get text() {
      return answer.bytes.toString('utf8')
    },
    operation,
    baseUrl: caller.baseUrl,
    url,
    hasToken: token !== undefined,
    redact,
  }
  const isUnchanged = answer.status === 304 && request.headers?.['if-none-match'] !== undefined
  if (answer.status >= 300 && !isUnchanged) throw refusal(reply)
  return reply
}

const isBytes = (body: object): body is Uint8Array => body instanceof Uint8Array

function searchOf(query: Call['query'] = {}): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.append(name, String(value))
  return search.size === 0 ? '' : `?${search}`
}

function failedExchange(context: MeshOperation, {cause, status, code}: ExchangeError): MeshHttpError {
  return new MeshHttpError({
    kind: status === undefined ? 'transport' : 'io',
    context,
    cause,
    status,
    isTransient: isTransientFault(code),
    mayBeDone: mayHaveArrived(code),
  })
}

/** Parses an error response: problem details, other JSON, a line of text, or nothing. */
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
  if (status < 400) return new SvcError('http_status', {url, status, detail: 'redirects are not followed'})
  if (status === 404 && isElsewhere(operation, text, problem))
    return new SvcError('control_plane_missing', {
      url: baseUrl,
      reason: `it does not support ${method} ${path}`,
    })
  const variables = variablesFor(plane)
  if (status === 401 && !hasToken && variables.length > 0)
    return new SvcError('mesh_token_missing', {operation, variables})
  return refusalOf(operation, status, problem)
}

/** Operations whose subject may not exist. Some control planes then return 404 without a body. */
const lookups: ReadonlySet<MeshOperation> = new Set([
  ...endings,
  'heartbeat',
  'bootstrap_exchange',
  'exec_lease_renew',
  'exec_lease_verify',
  'admin_quarantine',
  'admin_maintenance',
  'a2a_lease_renew',
  'blob_get',
])

/** True if the route does not exist, rather than the subject of the operation. */
const isElsewhere = (operation: MeshOperation, text: string, {code}: ReportedProblem): boolean =>
  code === undefined ? text.trim() !== '' || !lookups.has(operation) : code === 'route_unknown'

function readProblem(text: string, redact: Redactor): ReportedProblem {
  const sentence = (value: unknown) => (typeof value === 'string' ? sentenceOf(redact(value)) : undefined)
  try {
    const {code, detail, message, error, title} = Object(JSON.parse(text)) as Record<string, unknown>
    return {code: sentence(code), detail: [detail, message, error, title].map(sentence).find(Boolean)}
  } catch {
    return {detail: sentence(text)}
  }
}

const maxSentenceLength = 200

/** First line without its full stop, to embed it in a sentence. */
const sentenceOf = (text: string): string | undefined =>
  text.trim().split(/\r?\n/)[0]?.slice(0, maxSentenceLength).replace(/\.$/, '') || undefined
