import {
  ProtocolError,
  ProtocolErrorCode,
  type Result,
  type Server,
  type StandardSchemaV1,
} from '@modelcontextprotocol/server'
import {isObject} from '../contracts/index.js'
import type {AskingRequests} from './asking-request.js'
import {callHooks} from './call-hooks.js'
import {type Called, callTool} from './call-tool.js'
import {asResult, type Envelope} from './envelope.js'
import {
  createdLegacy,
  createdModern,
  handleLegacyTasks,
  handleModernTasks,
  missingExtension,
  supportsTasks,
} from './handle-tasks.js'
import {listTool} from './list-tool.js'
import type {ServerParts} from './server-parts.js'
import type {Era, ServerState} from './server-state.js'
import type {ResumableCall} from './suspended-calls.js'
import type {TaskNotifications} from './task-notifications.js'
import {requireState} from './tasks/find.js'
import type {TaskState} from './tasks/state.js'

interface CallParams {
  name: string
  arguments?: Readonly<Record<string, unknown>>
  /** Request of revision 2025-11-25 to run the call as a task. */
  task?: {ttl?: number}
}

const callParams: StandardSchemaV1<unknown, CallParams> = {
  '~standard': {
    version: 1,
    vendor: 'svc',
    validate(value) {
      const {name, arguments: args = {}, task = {}} = value as Partial<Record<keyof CallParams, unknown>>
      if (typeof name !== 'string') return {issues: [{message: 'name must be a string'}]}
      if (!isObject(args)) return {issues: [{message: 'arguments must be an object'}]}
      return isObject(task) ? {value: value as CallParams} : {issues: [{message: 'task must be an object'}]}
    },
  },
}

interface ToolState {
  state: ServerState
  era: Era
  requests: AskingRequests
  /** Undefined for the revisions that have no notifications about tasks. */
  notifications: TaskNotifications | undefined
}

/** Handles `tools/*` requests, and `tasks/*` requests for the calls that have become tasks. */
export function handleTools(
  server: Server,
  parts: ServerParts,
  {state, era, requests, notifications}: ToolState,
): void {
  const {registry, tiers, host, background} = parts
  const {callerOf, capabilitiesOf} = requests

  const perform = async (call: ResumableCall, args: Readonly<Record<string, unknown>>): Promise<Called> => {
    const {flushed, refused, ...hooks} = callHooks(callerOf(call))
    const called = await callTool(registry, call.name, args, host, hooks)
    await flushed()
    const refusal = refused()
    if (refusal !== undefined) throw refusal
    return called
  }

  /** Answers with a task, which the client reads later, if the tool and the client support it. */
  const answer = async (call: ResumableCall, {arguments: args = {}, task}: CallParams): Promise<Result> => {
    const tool = registry.tools.find(({name}) => name === call.name)
    const kind = tool?.task
    if (task !== undefined && era === 'legacy' && kind === undefined)
      throw new ProtocolError(ProtocolErrorCode.MethodNotFound, `${call.name} cannot be run as a task.`)
    const isTask =
      era === 'legacy' ? task !== undefined : kind !== undefined && supportsTasks(capabilitiesOf(call.context))
    if (!isTask && tool?.listed.execution?.taskSupport === 'required')
      throw era === 'modern'
        ? missingExtension()
        : new ProtocolError(ProtocolErrorCode.MethodNotFound, `${call.name} can only be run as a task.`)
    if (isTask && kind === 'background') {
      const base = await host.open()
      const watcher = notifications?.callWatcher(call.context.mcpReq._meta?.progressToken)
      const id = background.start(base, {tool: call.name, arguments: args, ttlMs: task?.ttl}, watcher)
      return create(requireState(base, background, id))
    }
    const {envelope, content} = await perform(call, args)
    const {uid, task_id: taskId} = (envelope.data ?? {}) as {uid?: string; task_id?: number}
    if (isTask && uid === undefined && era === 'legacy') throw refusedTask(envelope)
    if (!isTask || uid === undefined) return asResult(envelope, content)
    return create(requireState(await host.open(), background, uid), taskId)
  }

  const create = (task: TaskState, taskId?: number): Result => {
    notifications?.follow(task, taskId)
    return era === 'legacy' ? createdLegacy(task) : createdModern(task)
  }

  server.setRequestHandler('tools/list', () => ({tools: registry.listed(tiers).map(listTool) as never}))
  server.setRequestHandler('tools/call', {params: callParams}, (params, context) =>
    requests.perform(params.name, context, (call) => answer(call, params)),
  )
  if (era === 'legacy') handleLegacyTasks(server, parts, state)
  else handleModernTasks(server, parts, state, capabilitiesOf)
}

/** The error of a call that has become no task, although the client expects one. */
const refusedTask = ({error = '', code, remediation, meta}: Envelope) =>
  new ProtocolError(ProtocolErrorCode.InvalidParams, error, {code, remediation, ...meta})
