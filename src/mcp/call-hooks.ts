import type {RequestHandlerExtra} from '@modelcontextprotocol/sdk/shared/protocol.js'
import type {
  ClientCapabilities,
  ElicitRequestFormParams,
  ElicitResult,
  LoggingLevel,
  ServerNotification,
  ServerRequest,
} from '@modelcontextprotocol/sdk/types.js'
import {compileSchema} from '../contracts/index.js'
import {logger} from '../log/index.js'
import type {OperationContext, Progress, Question} from '../operations/index.js'
import type {CallHooks} from './tool.js'

export type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>

/** In ascending order of severity. */
export const logLevels = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const

/** The connected client, as a tool call sees it. */
export interface Caller {
  capabilities(): ClientCapabilities | undefined
  /** Minimum level of the log messages that the client receives. */
  level(): LoggingLevel
  /** Timeout of a question to the user, ms. */
  askTimeoutMs: number
  /** Aborts when the client can no longer answer questions. */
  gone: AbortSignal
  elicit(
    extra: Extra,
    params: ElicitRequestFormParams,
    options: {timeout: number; signal: AbortSignal},
  ): Promise<ElicitResult>
}

/** Lets a running operation notify and question its caller. `flushed` resolves when all notifications are sent. */
export function callHooks(extra: Extra, caller: Caller): CallHooks & {flushed(): Promise<void>} {
  let sent: Promise<void> = Promise.resolve()
  const notify = (notification: ServerNotification) => {
    sent = sent.then(() => extra.sendNotification(notification)).catch(() => undefined)
  }
  return {
    signal: extra.signal,
    report: progressOf(extra, notify),
    notice: (text) => {
      const [, word, rest = text] = /^(warning|notice): (.*)$/s.exec(text) ?? []
      const level = word === 'warning' ? 'warning' : 'notice'
      if (logLevels.indexOf(level) >= logLevels.indexOf(caller.level()))
        notify({method: 'notifications/message', params: {level, logger: 'svc', data: rest}})
    },
    ask: asking(extra, caller),
    flushed: () => sent,
  }
}

/** Reports progress if the caller sent a progress token. The protocol requires `progress` to increase each time. */
function progressOf(extra: Extra, notify: (notification: ServerNotification) => void): (progress: Progress) => void {
  const progressToken = extra._meta?.progressToken
  if (progressToken === undefined) return () => undefined
  let last = -Infinity
  return ({done, total, message}) => {
    if (!(done > last)) return
    last = done
    const params = {progressToken, progress: done}
    notify({
      method: 'notifications/progress',
      params: {...params, ...(total === undefined ? {} : {total}), ...(message === undefined ? {} : {message})},
    })
  }
}

/** An empty `elicitation` capability means support for forms. */
function supportsForms({elicitation}: ClientCapabilities = {}): boolean {
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined)
}

function asking(extra: Extra, caller: Caller): OperationContext['ask'] {
  if (!supportsForms(caller.capabilities())) return undefined
  return async ({message, schema}) => {
    const signal = AbortSignal.any([extra.signal, caller.gone])
    const params = {mode: 'form', message, requestedSchema: schema} as unknown as ElicitRequestFormParams
    try {
      const {action, content} = await caller.elicit(extra, params, {timeout: caller.askTimeoutMs, signal})
      return action === 'accept' ? validAnswer(content, schema) : undefined
    } catch (error) {
      logger('mcp').debug({err: error}, 'elicitation was not answered')
      return undefined
    }
  }
}

/** The answer, or undefined if it does not match the schema of the question. */
async function validAnswer(content: unknown, schema: Question['schema']) {
  const violations = (await compileSchema(schema, 'a question'))(content)
  if (violations.length === 0) return content as Readonly<Record<string, unknown>>
  logger('mcp').warn({violations}, 'elicitation answer does not match its schema')
  return undefined
}
