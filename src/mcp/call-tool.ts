import {SvcError} from '../errors/index.js'
import {logger} from '../log/index.js'
import {type Envelope, failure, faultOf, success} from './envelope.js'
import type {ToolRegistry} from './registry.js'
import type {CallHooks, Tool, ToolHost} from './tool.js'

/** What any call may say about itself, also where the tool has no such member. */
const callMembers = ['agent_id', 'session_id', 'trace_id', 'correlation_id', 'task_id', 'parent_task_id', 'span_depth']
/** Those that the answer repeats. */
const traceMembers = ['trace_id', 'correlation_id']

export interface Called {
  envelope: Envelope
  /** Why it failed. */
  error?: SvcError
}

/** Calls a tool by its name. Whatever goes wrong is in the answer. */
export async function callTool(
  registry: ToolRegistry,
  name: string,
  given: Readonly<Record<string, unknown>>,
  host: ToolHost,
  hooks: CallHooks,
): Promise<Called> {
  const log = logger('mcp')
  const about = pick(given, callMembers)
  const trace = pick(given, traceMembers)
  const startedMs = performance.now()
  const logCall = (code: string) =>
    log.debug({tool: name, code, ms: Math.round(performance.now() - startedMs), ...about}, 'called')
  try {
    const tool = registry.find(name)
    const answer = await tool.call(argumentsOf(tool, given), host, hooks)
    logCall('ok')
    return {envelope: success(answer, trace)}
  } catch (thrown) {
    // Who has called it off knows why.
    const fault = hooks.signal.aborted ? {error: new SvcError('interrupted', {})} : faultOf(thrown)
    const {error} = fault
    if (error.code === 'internal') log.error({err: error.cause ?? error, tool: name}, error.message)
    logCall(error.code)
    return {envelope: failure(fault, trace), error}
  }
}

const pick = (members: Readonly<Record<string, unknown>>, names: readonly string[]) =>
  Object.fromEntries(names.filter((name) => isPlain(members[name])).map((name) => [name, members[name]]))

const isPlain = (value: unknown) => typeof value === 'string' || typeof value === 'number'

/** What was given, without what is said about the call where the tool takes no more than it names. */
function argumentsOf({input}: Tool, given: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const {properties = {}, additionalProperties: others} = input as {
    properties?: object
    additionalProperties?: unknown
  }
  if (others !== false) return given
  const isOfCall = (name: string) => callMembers.includes(name) && !Object.hasOwn(properties, name)
  return Object.fromEntries(Object.entries(given).filter(([name, value]) => !(isOfCall(name) && isPlain(value))))
}
