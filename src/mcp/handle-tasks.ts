import {setTimeout as sleep} from 'node:timers/promises'
import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type ElicitResult,
  type JSONRPCErrorResponse,
  type JSONRPCRequest,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  RELATED_TASK_META_KEY,
  type Result,
  type Server,
  type ServerContext,
  type StandardSchemaV1,
} from '@modelcontextprotocol/server'
import {formatMoment} from '../config/index.js'
import {logger} from '../log/index.js'
import type {OperationBase} from '../operations/index.js'
import {anyParams} from './any-params.js'
import {answerOf, formOf, supportsForms} from './call-hooks.js'
import {asResult} from './envelope.js'
import {answering} from './protocol-error.js'
import {fromCursor, type TaskPlace, toCursor} from './resources/cursor.js'
import type {ServerParts} from './server-parts.js'
import type {ServerState} from './server-state.js'
import {cancelState, listStates, requireState} from './tasks/find.js'
import {hasEnded, type TaskState} from './tasks/state.js'

/** Extension of revision 2026-07-28 that has the tasks; until 2025-11-25 they are part of the protocol. */
export const tasksExtension = 'io.modelcontextprotocol/tasks'

/** Suggested interval between two requests for the status of a task, and that between two looks at it, ms. */
const pollIntervalMs = 1000
const lookIntervalMs = 150

interface TaskParams {
  taskId: string
}

/** Parameters of `tasks/get` and its siblings. */
const taskParams: StandardSchemaV1<unknown, TaskParams> = {
  '~standard': {
    version: 1,
    vendor: 'svc',
    validate: (value) =>
      typeof (value as Partial<TaskParams>).taskId === 'string'
        ? {value: value as TaskParams}
        : {issues: [{message: 'taskId must be a string', path: ['taskId']}]},
  },
}

const isoTime = (ms: number) => formatMoment(ms)

/** A task as revision 2025-11-25 defines it. */
export const legacyTask = ({id, status, message, createdMs, updatedMs, ttlMs}: TaskState) => ({
  taskId: id,
  status,
  statusMessage: message,
  createdAt: isoTime(createdMs),
  lastUpdatedAt: isoTime(updatedMs),
  ttl: ttlMs,
  pollInterval: pollIntervalMs,
})

/** The members of a task that the extension of revision 2026-07-28 always has. */
const modernMembers = ({id, message, createdMs, updatedMs, ttlMs}: TaskState) => ({
  taskId: id,
  statusMessage: message,
  createdAt: isoTime(createdMs),
  lastUpdatedAt: isoTime(updatedMs),
  ttlMs,
  pollIntervalMs,
})

/** A tool that reports an error has completed. A decision is only requested from a client that can ask a person. */
function modernTask(state: TaskState, capabilities: ClientCapabilities | undefined): Result {
  const {outcome, question} = state
  const isAsking = question !== undefined && supportsForms(capabilities)
  // Only an error of the server makes the task fail.
  if (outcome?.code === 'internal')
    return {...modernMembers(state), status: 'failed', error: {code: -32_603, message: outcome.error}}
  const status = modernStatus(state.status, isAsking)
  const requests = isAsking
    ? {inputRequests: {[question.key]: {method: 'elicitation/create', params: formOf(question.question)}}}
    : {}
  const result = status === 'completed' && outcome !== undefined ? {result: asResult(outcome)} : {}
  return {...modernMembers(state), status, ...requests, ...result}
}

function modernStatus(status: TaskState['status'], isAsking: boolean): TaskState['status'] {
  if (status === 'failed') return 'completed'
  return status === 'input_required' && !isAsking ? 'working' : status
}

/** Response to a call that has become a task, with a text for the model until the task has ended. */
export const createdLegacy = (state: TaskState): Result => ({
  task: {...legacyTask(state), status: 'working'},
  _meta: {'io.modelcontextprotocol/model-immediate-response': state.message},
})

export const createdModern = (state: TaskState): Result => ({
  resultType: 'task',
  ...modernMembers(state),
  status: 'working',
})

/** Handles the `tasks/*` requests of revision 2025-11-25. */
export function handleLegacyTasks(server: Server, {host, background, askTimeoutMs}: ServerParts, state: ServerState) {
  const {running} = state
  server.setRequestHandler('tasks/get', {params: taskParams}, ({taskId}) =>
    answering(running, async () => legacyTask(requireState(await host.open(), background, taskId))),
  )
  server.setRequestHandler('tasks/list', {params: anyParams}, ({cursor}) =>
    answering(running, async () => {
      const {states, next} = listStates(await host.open(), background, placeOf(cursor))
      return {tasks: states.map(legacyTask), ...(next === undefined ? {} : {nextCursor: toCursor(next)})}
    }),
  )
  server.setRequestHandler('tasks/cancel', {params: taskParams}, ({taskId}) =>
    answering(running, async () => legacyTask(cancelState(await host.open(), background, taskId))),
  )
  server.setRequestHandler('tasks/result', {params: taskParams}, ({taskId}, context) =>
    answering(running, async () => {
      const base = await host.open()
      const related = {[RELATED_TASK_META_KEY]: {taskId}}
      const signal = AbortSignal.any([context.mcpReq.signal, state.gone.signal])
      const ask = async (params: object): Promise<ElicitResult> =>
        context.mcpReq.send(
          {method: 'elicitation/create', params: {...params, _meta: related}},
          {timeout: askTimeoutMs, signal},
        )
      const canAsk = supportsForms(server.getClientCapabilities())
      const {outcome} = await untilEnded(() => requireState(base, background, taskId), signal, canAsk ? ask : undefined)
      return {...asResult(outcome), _meta: related}
    }),
  )
}

/** @throws ProtocolError if this server did not create the cursor for a list of tasks */
function placeOf(cursor: unknown): TaskPlace | undefined {
  if (cursor === undefined) return undefined
  const place = fromCursor(String(cursor), 'callsFrom')
  if (place === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Invalid cursor.')
  return place
}

/** Waits for the end of a task, and asks the person behind the client what the task needs to know. */
async function untilEnded(
  look: () => TaskState,
  signal: AbortSignal,
  ask: ((params: object) => Promise<ElicitResult>) | undefined,
): Promise<TaskState & Required<Pick<TaskState, 'outcome'>>> {
  const asked = new Set<string>()
  for (;;) {
    const state = look()
    const {outcome, question} = state
    if (outcome !== undefined) return {...state, outcome}
    signal.throwIfAborted()
    if (ask !== undefined && question !== undefined && !asked.has(question.key)) {
      asked.add(question.key)
      await ask(formOf(question.question))
        .then((result) => answerQuestion(look(), question.key, result))
        .catch((error: unknown) => logger('mcp').debug({err: error}, 'elicitation was not answered'))
    } else await sleep(lookIntervalMs, undefined, {signal})
  }
}

/**
 * Applies an answer to the question that the task still waits for; others are ignored.
 * @throws ProtocolError if it does not match the schema of the question; the errors of the operation
 */
async function answerQuestion({question}: TaskState, key: string, result: unknown): Promise<void> {
  if (question?.key !== key) return
  const content = await answerOf(result as ElicitResult, question.question)
  if (content !== undefined) question.answer(content)
}

/** Handles the `tasks/*` requests of the extension of revision 2026-07-28. */
export function handleModernTasks(
  server: Server,
  {host, background}: ServerParts,
  {running}: ServerState,
  capabilitiesOf: (context: ServerContext) => ClientCapabilities | undefined,
): void {
  const handle = (
    method: string,
    answer: (base: OperationBase, taskId: string, context: ServerContext) => Result | Promise<Result>,
  ) =>
    server.setRequestHandler(method, {params: taskParams}, ({taskId}, context) =>
      answering(running, async () => {
        if (!supportsTasks(capabilitiesOf(context))) throw missingExtension()
        return answer(await host.open(), taskId, context)
      }),
    )
  handle('tasks/get', (base, taskId, context) =>
    modernTask(requireState(base, background, taskId), capabilitiesOf(context)),
  )
  handle('tasks/update', async (base, taskId, {mcpReq: {inputResponses = {}}}) => {
    const state = requireState(base, background, taskId)
    for (const [key, response] of Object.entries(inputResponses)) await answerQuestion(state, key, response)
    return {}
  })
  // The extension has no error for a task that has ended: to cancel it has no effect.
  handle('tasks/cancel', (base, taskId) => {
    if (!hasEnded(requireState(base, background, taskId))) cancelState(base, background, taskId)
    return {}
  })
}

export const missingExtension = () =>
  new MissingRequiredClientCapabilityError({requiredCapabilities: {extensions: {[tasksExtension]: {}}}})

/** The error response to a client that listens to tasks without supporting them; undefined for other requests. */
export function refuseListening({id, params = {}}: JSONRPCRequest): JSONRPCErrorResponse | undefined {
  const {notifications, _meta: meta = {}} = params as {notifications?: {taskIds?: unknown}; _meta?: object}
  const capabilities = (meta as Record<string, ClientCapabilities>)[CLIENT_CAPABILITIES_META_KEY]
  if (notifications?.taskIds === undefined || supportsTasks(capabilities)) return undefined
  const {code, message, data} = missingExtension()
  return {jsonrpc: '2.0', id, error: {code, message, data}}
}

export const supportsTasks = ({extensions}: ClientCapabilities = {}): boolean =>
  extensions?.[tasksExtension] !== undefined
