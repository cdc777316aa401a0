import {
  type ClientCapabilities,
  type ElicitRequestFormParams,
  type ElicitResult,
  type Notification,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from '@modelcontextprotocol/server'
import {compileSchema} from '../contracts/index.js'
import {logger} from '../log/index.js'
import type {OperationContext, Progress, Question} from '../operations/index.js'
import type {CallHooks} from './tool.js'

/** The client of a tool call, which may continue the call with another request. */
export interface Caller {
  /** The request that the client currently waits for. */
  context(): ServerContext
  capabilities: ClientCapabilities | undefined
  /** Aborts when the client cancels the call. */
  signal: AbortSignal
  /** @throws if the client does not answer */
  elicit(params: ElicitRequestFormParams): Promise<ElicitResult>
}

/** Lets a running operation notify and question its caller. `flushed` resolves when all notifications are sent. */
export function callHooks(caller: Caller): CallHooks & {flushed(): Promise<void>} {
  let sent: Promise<void> = Promise.resolve()
  const send = (message: () => Promise<void>) => {
    sent = sent.then(message).catch(() => undefined)
  }
  return {
    signal: caller.signal,
    report: progressOf(caller, (notification) => send(() => caller.context().mcpReq.notify(notification))),
    notice: (text) => {
      const [, word, rest = text] = /^(warning|notice): (.*)$/s.exec(text) ?? []
      const level = word === 'warning' ? 'warning' : 'notice'
      send(() => caller.context().mcpReq.log(level, rest, 'svc'))
    },
    ask: asking(caller),
    flushed: () => sent,
  }
}

/** Reports progress if the caller sent a progress token. The protocol requires `progress` to increase each time. */
function progressOf(caller: Caller, notify: (notification: Notification) => void): (progress: Progress) => void {
  let last = -Infinity
  return ({done, total, message}) => {
    const progressToken = caller.context().mcpReq._meta?.progressToken
    if (progressToken === undefined || !(done > last)) return
    last = done
    const params = {progressToken, progress: done}
    notify({
      method: 'notifications/progress',
      params: {...params, ...(total === undefined ? {} : {total}), ...(message === undefined ? {} : {message})},
    })
  }
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
      return await answerOf(await caller.elicit(formOf(question)), question)
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
