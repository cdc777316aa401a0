import {SvcError} from '../../errors/index.js'
import {inheritedEnvironment, killIfRunning, processesWith, runInGroup} from '../../process/index.js'
import type {ActivityKey} from '../store/activities.js'
import {type Executor, localEvent} from './executor.js'

const maxOutputBytes = 256 << 10
/** Variable that marks the processes of an activity. */
const marker = 'SVC_WORKFLOW_ACTIVITY'

const markerOf = ({runId, activityId}: ActivityKey): string => `${runId}/${activityId}`

/** Runs a program in the workspace, in a process group of its own. */
export const execExecutor: Executor<'exec'> = {
  type: 'work',
  async run({context, ports, key, name, args: {argv, env, json}, attempt}, signal) {
    refuseNul(name, argv)
    // A process of an attempt that was interrupted may still be running.
    if (attempt > 1) for (const pid of processesWith(marker, markerOf(key))) killIfRunning(pid)
    const [program = '', ...rest] = argv
    const end = await runInGroup(
      {
        argv: [program, ...rest],
        cwd: context.root,
        env: {
          ...inheritedEnvironment(ports.env),
          ...env,
          SVC_WORKFLOW_RUN_ID: key.runId,
          SVC_WORKFLOW_ATTEMPT: String(attempt),
          [marker]: markerOf(key),
        },
        timeoutMs: Number.POSITIVE_INFINITY,
        maxOutputBytes,
      },
      signal,
    )
    const {exitCode, signal: killedBy, output} = end
    if (exitCode !== 0)
      throw new SvcError('workflow_activity_failed', {
        activity: name,
        reason: `${program} ${killedBy === null ? `exited with status ${exitCode}` : `was terminated by ${killedBy}`}${withLines(output.lastLines(3))}`,
      })
    const stdout = output.text('stdout')
    const result = {stdout, stderr: output.text('stderr'), exit_code: exitCode}
    return {result: json ? {...result, json: parseJson(name, stdout)} : result, event: localEvent(name)}
  },
}

const withLines = (lines: readonly string[]) => (lines.length === 0 ? '' : `: ${lines.join(' | ')}`)

/** An argument that an expression has computed must not contain a NUL character, which would end it. */
function refuseNul(activity: string, argv: readonly string[]): void {
  if (argv.some((argument) => argument.includes('\0')))
    throw new SvcError('workflow_activity_failed', {activity, reason: 'an argument contains a NUL character'})
}

/** @throws workflow_activity_failed */
export function parseJson(activity: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new SvcError('workflow_activity_failed', {
      activity,
      reason: `its output is not JSON: ${(error as Error).message}`,
    })
  }
}
