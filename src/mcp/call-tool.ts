import {SvcError} from '../errors/index.js'
import {logger} from '../log/index.js'
import {type Answer, type Envelope, failure, success, toToolError} from './envelope.js'
import type {ToolRegistry} from './registry.js'
import type {CallHooks, Tool, ToolHost} from './tool.js'

/** Metadata that any call may contain, even if the input schema of the tool does not define it. */
const callMembers = ['agent_id', 'session_id', 'trace_id', 'correlation_id', 'task_id', 'parent_task_id', 'span_depth']
/** Metadata that the result repeats. */
const traceMembers = ['trace_id', 'correlation_id']

export interface Called {
  envelope: Envelope
  content?: Answer['content']
  error?: SvcError
}

/** Calls a tool by name. Never throws: errors are reported in the envelope. */
export async function callTool(
  registry: ToolRegistry,
  name: string,
  args: Readonly<Record<string, unknown>>,
  host: ToolHost,
  hooks: CallHooks,
): Promise<Called> {
  const log = logger('mcp')
  const metadata = pick(args, callMembers)
  const trace = pick(args, traceMembers)
  const startedMs = performance.now()
  const logCall = (code: string) =>
    log.debug({tool: name, code, ms: Math.round(performance.now() - startedMs), ...metadata}, 'tool called')
  try {
    const tool = registry.find(name)
    const answer = await tool.call(argumentsOf(tool, args), host, hooks)
    logCall('ok')
    const {content} = answer
    return {envelope: success(answer, trace), ...(content === undefined ? {} : {content})}
  } catch (thrown) {
    // A cancelled call may fail with any error; only the cancellation is meaningful to the client that requested it.
    const failed = hooks.signal.aborted ? {error: new SvcError('interrupted', {})} : toToolError(thrown)
    const {error} = failed
    if (error.code === 'internal') log.error({err: error.cause ?? error, tool: name}, error.message)
    logCall(error.code)
    return {envelope: failure(failed, trace), error}
  }
}

const pick = (members: Readonly<Record<string, unknown>>, names: readonly string[]) =>
  Object.fromEntries(names.filter((name) => isPlain(members[name])).map((name) => [name, members[name]]))

const isPlain = (value: unknown) => typeof value === 'string' || typeof value === 'number'

/** The arguments, without call metadata if the tool rejects members that its schema does not define. */
function argumentsOf({input}: Tool, args: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const {properties = {}, additionalProperties: others} = input as {
    properties?: object
    additionalProperties?: unknown
  }
  if (others !== false) return args
  const isOfCall = (name: string) => callMembers.includes(name) && !Object.hasOwn(properties, name)
  return Object.fromEntries(Object.entries(args).filter(([name, value]) => !(isOfCall(name) && isPlain(value))))
}
