import {
  type ClientCapabilities,
  type ElicitRequestFormParams,
  type ElicitResult,
  MissingRequiredClientCapabilityError,
  type Notification,
  type ProgressToken,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from '@modelcontextprotocol/server'
import {compileSchema} from '../contracts/index.js'
import {logger} from '../log/index.js'
import type {OperationContext, Progress, Question} from '../operations/index.js'
import type {CallHooks, ClientRequests} from './tool.js'

/** The client of a tool call, which may continue the call with another request. */
export interface Caller {
  /** The request that the client currently waits for. */
  context(): ServerContext
  capabilities: ClientCapabilities | undefined
  /** Aborts when the client cancels the call. */
  signal: AbortSignal
  /**
   * @param acceptsEarly whether answers count that the client has sent before it was asked
   * @throws if the client does not answer
   */
  request(requests: ClientRequests, acceptsEarly: boolean): Promise<Readonly<Record<string, unknown>>>
}

/** The hooks of a call, and what happened in them. */
interface OpenHooks extends CallHooks {
  /** Resolves when all notifications are sent. */
  flushed(): Promise<void>
  /** The protocol error of a request that the client does not support. */
  refused(): ProtocolError | undefined
}

/** Lets a running operation notify and question its caller. */
export function callHooks(caller: Caller): OpenHooks {
  const capabilities = caller.capabilities ?? {}
  let refusal: ProtocolError | undefined
  let sent: Promise<void> = Promise.resolve()
  const send = (message: () => Promise<void>) => {
    sent = sent.then(message).catch(() => undefined)
  }
  return {
    signal: caller.signal,
    report: progressOf(
      () => caller.context().mcpReq._meta?.progressToken,
      (notification) => send(() => caller.context().mcpReq.notify(notification)),
    ),
    notice: (text) => {
      const [, word, rest = text] = /^(warning|notice): (.*)$/s.exec(text) ?? []
      const level = word === 'warning' ? 'warning' : 'notice'
      send(() => caller.context().mcpReq.log(level, rest, 'svc'))
    },
    ask: asking(caller),
    client: {
      capabilities,
      async request(requests) {
        refusal = missingCapability(capabilities, requests)
        if (refusal !== undefined) throw refusal
        return caller.request(requests, true)
      },
    },
    flushed: () => sent,
    refused: () => refusal,
  }
}

/** Reports progress if the caller sent a progress token. The protocol requires `progress` to increase each time. */
export function progressOf(
  token: () => ProgressToken | undefined,
  notify: (notification: Notification) => void,
): (progress: Progress) => void {
  let last = -Infinity
  return ({done, total, message}) => {
    const progressToken = token()
    if (progressToken === undefined || !(done > last)) return
    last = done
    const params = {progressToken, progress: done}
    notify({
      method: 'notifications/progress',
      params: {...params, ...(total === undefined ? {} : {total}), ...(message === undefined ? {} : {message})},
    })
  }
}

const capabilityOf = {
  'elicitation/create': 'elicitation',
  'sampling/createMessage': 'sampling',
  'roots/list': 'roots',
} as const

function missingCapability(capabilities: ClientCapabilities, requests: ClientRequests): ProtocolError | undefined {
  const missing = Object.values(requests)
    .map(({method}) => capabilityOf[method])
    .filter((name) => capabilities[name] === undefined)
  if (missing.length === 0) return undefined
  return new MissingRequiredClientCapabilityError({
    requiredCapabilities: Object.fromEntries(missing.map((name) => [name, {}])),
  })
}

/** An empty `elicitation` capability means support for forms. */
export function supportsForms({elicitation}: ClientCapabilities = {}): boolean {
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined)
}

/** The form that asks a person a question. */
export const formOf = ({message, schema}: Question): ElicitRequestFormParams =>
  ({mode: 'form', message, requestedSchema: schema}) as unknown as ElicitRequestFormParams

function asking(caller: Caller): OperationContext['ask'] {
  if (!supportsForms(caller.capabilities)) return undefined
  return async (question) => {
    try {
      const {answer} = await caller.request({answer: {method: 'elicitation/create', params: formOf(question)}}, false)
      return await answerOf(answer as ElicitResult, question)
    } catch (error) {
      logger('mcp').debug({err: error}, 'elicitation was not answered')
      return undefined
    }
  }
}

/**
 * The answer of a person; undefined if the person did not answer.
 * @throws ProtocolError if it does not match the schema of the question
 */
export async function answerOf({action, content}: ElicitResult, {schema}: Pick<Question, 'schema'>) {
  if (action !== 'accept') return undefined
  const violations = (await compileSchema(schema, 'a question'))(content)
  if (violations.length === 0) return content as Readonly<Record<string, unknown>>
  logger('mcp').warn({violations}, 'elicitation answer does not match its schema')
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Invalid answer: ${violations.join('; ')}.`)
}
