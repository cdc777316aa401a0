import type {OrchTaskV1 as Task} from '../contracts/index.js'
import {SvcError} from '../errors/index.js'
import {registerSecret} from '../log/index.js'
import {type GroupEnd, type GroupListener, inheritedEnvironment, runInGroup} from '../process/index.js'
import {type ExecPolicy, planExec} from './exec-argv.js'
import {secretValues} from './exec-secrets.js'

/** @property root of the workspace, the working directory of every command */
export interface ExecOptions extends ExecPolicy {
  timeoutMs: number
  /** Maximum number of output bytes to keep: a quarter from the beginning, the rest from the end. */
  maxOutputBytes: number
  /** Environment of this process, from which a command inherits a few harmless variables and its secrets. */
  env: Readonly<Record<string, string | undefined>>
  /** Account that runs commands; default: that of this process. */
  user?: string | undefined
}

export interface TemplateEnd extends GroupEnd {
  program: string
  /** Why the command failed, as a predicate of the template's name; undefined if it succeeded. */
  failure: string | undefined
}

/** Task ids in the environment of a command. */
const taskVariables: readonly (readonly [variable: string, of: (task: Task) => string | number | undefined])[] = [
  ['SVC_TASK_ID', ({id}) => id],
  ['SVC_TASK_UID', ({uid}) => uid],
  ['SVC_TASK_ATTEMPT', ({generation}) => generation],
  ['SVC_TASK_AGENT_ID', ({agent_id}) => agent_id],
  ['SVC_TASK_TRACE_ID', ({trace_id}) => trace_id],
  ['SVC_TASK_CORRELATION_ID', ({correlation_id}) => correlation_id],
  ['SVC_TASK_SESSION_ID', ({session_id}) => session_id],
  ['SVC_TASK_THREAD_ID', ({thread_id}) => thread_id],
  ['SVC_TASK_JOURNEY_ID', ({journey_id}) => journey_id],
  ['SVC_TASK_TENANT_ID', ({tenant_id}) => tenant_id],
  ['SVC_TASK_CAMPAIGN_ID', ({campaign_id}) => campaign_id],
]

/**
 * Runs the command template of a task in the workspace root, in its own process group.
 * @throws the errors of `planExec`, exec_secret_missing, exec_user_unusable, the reason of the signal, task_run_failed if the program cannot be started; system
 *   errors that another attempt may not meet
 */
export async function runTemplate(
  task: Task,
  options: ExecOptions,
  signal: AbortSignal,
  listener: GroupListener = {},
): Promise<TemplateEnd> {
  const argv = planExec(task, options)
  const {root: cwd, maxOutputBytes, user} = options
  const timeoutMs = task.task_timeout_ms ?? options.timeoutMs
  const command = {argv, cwd, env: environment(options, task), timeoutMs, maxOutputBytes, user}
  const end = await runInGroup(command, signal, listener).catch((error: unknown) => {
    signal.throwIfAborted()
    throw startError(task.exec?.template ?? '', error)
  })
  return {...end, program: argv[0], failure: failureOf(end, timeoutMs)}
}

function environment({env: parent, user}: ExecOptions, task: Task): Record<string, string> {
  const secrets = secretValues(task.exec ?? {}, parent)
  for (const value of Object.values(secrets)) registerSecret(value)
  const variables = [
    ...Object.entries(secrets),
    ...Object.entries(inheritedEnvironment(parent, user)),
    ...taskVariables.map(([name, of]) => [name, of(task)] as const),
  ]
  return Object.fromEntries(
    variables.flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)] as const])),
  )
}

/** Errors of the machine, not of the task: another attempt may succeed. */
const transient = new Set(['EAGAIN', 'EMFILE', 'ENFILE', 'ENOMEM'])

function startError(template: string, error: unknown): unknown {
  const {code = '', message} = error as NodeJS.ErrnoException
  if (error instanceof SvcError || transient.has(code)) return error
  return new SvcError('task_run_failed', {reason: `${template} cannot be started: ${message}`}, {cause: error})
}

export function failureOf({timedOut, exitCode, signal}: GroupEnd, timeoutMs: number): string | undefined {
  if (timedOut) return `timed out after ${timeoutMs} ms`
  if (signal !== null) return `was terminated by ${signal}`
  return exitCode === 0 ? undefined : `exited with status ${exitCode}`
}
