import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  ProtocolError,
  ProtocolErrorCode,
  type Result,
  type Server,
  type ServerContext,
  type StandardSchemaV1,
} from '@modelcontextprotocol/server'
import {type Caller, callHooks} from './call-hooks.js'
import {callTool} from './call-tool.js'
import {asResult, type Envelope} from './envelope.js'
import {createdLegacy, createdModern, handleLegacyTasks, handleModernTasks, supportsTasks} from './handle-tasks.js'
import {listTool} from './list-tool.js'
import {answering} from './protocol-error.js'
import type {ServerParts} from './server-parts.js'
import type {Era, ServerState} from './server-state.js'
import {ResumableCall} from './suspended-calls.js'
import {requireState} from './tasks/find.js'
import type {TaskState} from './tasks/state.js'
import type {Tool} from './tool.js'

interface CallParams {
  name: string
  arguments?: Readonly<Record<string, unknown>>
  /** Request of revision 2025-11-25 to run the call as a task. */
  task?: {ttl?: number}
}

const isObject = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value)

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

/** Handles `tools/*` requests, and `tasks/*` requests for the calls that have become tasks. */
export function handleTools(server: Server, parts: ServerParts, {state, era}: {state: ServerState; era: Era}): void {
  const {registry, tiers, host, background, askTimeoutMs} = parts
  const capabilitiesOf = ({mcpReq: {envelope}}: ServerContext) =>
    era === 'modern' ? declaredIn(envelope) : server.getClientCapabilities()

  const callerOf = (call: ResumableCall): Caller => ({
    context: () => call.context,
    capabilities: capabilitiesOf(call.context),
    signal: call.signal,
    elicit(params) {
      const signal = AbortSignal.any([call.signal, state.gone.signal])
      if (era === 'modern')
        return state.suspended.ask(call, params, AbortSignal.any([signal, AbortSignal.timeout(askTimeoutMs)]))
      return call.context.mcpReq.send({method: 'elicitation/create', params}, {timeout: askTimeoutMs, signal})
    },
  })

  const perform = async (call: ResumableCall, args: Readonly<Record<string, unknown>>): Promise<Envelope> => {
    const {flushed, ...hooks} = callHooks(callerOf(call))
    const {envelope} = await callTool(registry, call.name, args, host, hooks)
    await flushed()
    return envelope
  }

  /** Answers with a task, which the client reads later, if the tool and the client support it. */
  const answer = async (call: ResumableCall, {arguments: args = {}, task}: CallParams): Promise<Result> => {
    const kind = taskKind(registry.tools, call.name)
    if (task !== undefined && era === 'legacy' && kind === undefined)
      throw new ProtocolError(ProtocolErrorCode.MethodNotFound, `${call.name} cannot be run as a task.`)
    const isTask =
      era === 'legacy' ? task !== undefined : kind !== undefined && supportsTasks(capabilitiesOf(call.context))
    if (isTask && kind === 'background') {
      const base = await host.open()
      const id = background.start(base, {tool: call.name, arguments: args, ttlMs: task?.ttl})
      return created(requireState(base, background, id), era)
    }
    const envelope = await perform(call, args)
    const {uid} = (envelope.data ?? {}) as {uid?: string}
    if (!isTask || uid === undefined) return refuseTask(envelope, era === 'legacy' && isTask)
    return created(requireState(await host.open(), background, uid), era)
  }

  server.setRequestHandler('tools/list', () => ({tools: registry.listed(tiers).map(listTool) as never}))
  server.setRequestHandler('tools/call', {params: callParams}, async (params, context) => {
    const suspended = context.mcpReq.requestState<string>()
    if (suspended !== undefined) return (await state.suspended.resume(suspended, params.name, context)).reply()
    const call = new ResumableCall(params.name, context)
    call.settle(answering(state.running, () => answer(call, params)))
    return call.reply()
  })
  if (era === 'legacy') handleLegacyTasks(server, parts, state)
  else handleModernTasks(server, parts, state, capabilitiesOf)
}

/** Since revision 2026-07-28 a client declares its capabilities in each request. */
const declaredIn = (envelope: ServerContext['mcpReq']['envelope']) =>
  envelope?.[CLIENT_CAPABILITIES_META_KEY as keyof typeof envelope] as ClientCapabilities | undefined

const taskKind = (tools: readonly Tool[], name: string) => tools.find((tool) => tool.name === name)?.task

const created = (task: TaskState, era: Era): Result => (era === 'legacy' ? createdLegacy(task) : createdModern(task))

/** The result of a call without a task. @throws ProtocolError if the client expects a task */
function refuseTask(envelope: Envelope, isExpected: boolean): Result {
  if (!isExpected) return asResult(envelope)
  const {error = '', code, remediation, meta} = envelope
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, error, {code, remediation, ...meta})
}
