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

/** From the least to the most urgent. */
export const logLevels = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const

/** The client at the other end, as far as a call has to do with it. */
export interface Caller {
  capabilities(): ClientCapabilities | undefined
  /** The least level of messages that it wants. */
  level(): LoggingLevel
  /** How long a person may take to answer, ms. */
  askTimeoutMs: number
  /** Aborts when nobody can answer any more. */
  gone: AbortSignal
  /** Sends a question and waits for what the client gives back. */
  elicit(
    extra: Extra,
    params: ElicitRequestFormParams,
    options: {timeout: number; signal: AbortSignal},
  ): Promise<ElicitResult>
}

/** What an operation can notify and ask its caller while it runs. Its notifications are sent before its answer. */
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

/** Only where the caller wants to know; the number must never stand still. */
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

/** A client that can show a form: one that names no kind of question shows forms. */
function asksPeople({elicitation}: ClientCapabilities = {}): boolean {
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined)
}

function asking(extra: Extra, caller: Caller): OperationContext['ask'] {
  if (!asksPeople(caller.capabilities())) return undefined
  return async ({message, schema}) => {
    const signal = AbortSignal.any([extra.signal, caller.gone])
    const params = {mode: 'form', message, requestedSchema: schema} as unknown as ElicitRequestFormParams
    try {
      const {action, content} = await caller.elicit(extra, params, {timeout: caller.askTimeoutMs, signal})
      return action === 'accept' ? fitting(content, schema) : undefined
    } catch (error) {
      logger('mcp').debug({err: error}, 'a question was not answered')
      return undefined
    }
  }
}

/** An answer that does not fit its question is none. */
async function fitting(content: unknown, schema: Question['schema']) {
  const violations = (await compileSchema(schema, 'a question'))(content)
  if (violations.length === 0) return content as Readonly<Record<string, unknown>>
  logger('mcp').warn({violations}, 'an answer does not fit its question')
  return undefined
}
