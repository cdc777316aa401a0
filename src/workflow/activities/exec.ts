import {SvcError} from '../../errors/index.js'
import {parseExactJson} from '../../files/index.js'
import {
  inheritedEnvironment,
  type KeptOutput,
  killIfRunning,
  processesWith,
  runInGroup,
  withGap,
} from '../../process/index.js'
import type {ActivityKey, ProgramOutput} from '../store/activities.js'
import {type Executor, localEvent} from './executor.js'

/** Kept bytes of the output of a program, its beginning and its end. */
const maxOutputBytes = 256 << 10
/** Kept bytes of an output that is parsed: nothing of it may be missing. */
const maxJsonBytes = 1 << 20
/** Characters of each stream that are kept of a failed program. */
const maxFailedCharacters = 64 << 10
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
    let kept: KeptOutput | undefined
    const limit = json ? maxJsonBytes : maxOutputBytes
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
        maxOutputBytes: limit,
      },
      signal,
      undefined,
      (output) => {
        kept = output
      },
    ).catch((error: unknown) => {
      // The output of a program that did not end in time says how far it came.
      if (error instanceof SvcError && kept !== undefined) error.cause ??= new FailedProgram(null, kept)
      throw error
    })
    const {exitCode, signal: killedBy, output} = end
    const fail = (reason: string) =>
      new SvcError('workflow_activity_failed', {activity: name, reason}, {cause: new FailedProgram(exitCode, output)})
    if (exitCode !== 0)
      throw fail(
        `${program} ${killedBy === null ? `exited with status ${exitCode}` : `was terminated by ${killedBy}`}${withLines(output.lastLines(3))}`,
      )
    const result = {
      ...streamsOf(output, maxOutputBytes),
      exit_code: exitCode,
    }
    if (!json) return {result, event: localEvent(name)}
    if (output.missing > 0) throw fail(`its output is larger than ${limit} bytes, the limit for json`)
    return {result: {...result, json: parseJson(name, output.text('stdout'))}, event: localEvent(name)}
  },
}

/** The streams of a program, without the middle of what is longer than a limit, and whether it is missing. */
function streamsOf(output: KeptOutput, limit: number): Pick<ProgramOutput, 'stdout' | 'stderr' | 'truncated'> {
  const stdout = withoutMiddle(output.text('stdout'), limit)
  const stderr = withoutMiddle(output.text('stderr'), limit)
  const isCut = output.missing > 0 || stdout.isCut || stderr.isCut
  return {stdout: stdout.text, stderr: stderr.text, ...(isCut ? {truncated: true} : {})}
}

/** The first quarter and the end of a text that has too many characters. */
function withoutMiddle(text: string, limit: number): {text: string; isCut: boolean} {
  if (text.length <= limit) return {text, isCut: false}
  const head = Math.floor(limit / 4)
  const tail = text.length - (limit - head)
  return {text: withGap(text.slice(0, head), Buffer.byteLength(text.slice(head, tail)), text.slice(tail)), isCut: true}
}

/** What a program printed that failed: the cause of the failure of its activity. */
export class FailedProgram extends Error {
  override readonly name = 'FailedProgram'
  readonly output: ProgramOutput

  constructor(exitCode: number | null, output: KeptOutput) {
    super('The program failed.')
    this.output = {exit_code: exitCode, ...streamsOf(output, maxFailedCharacters)}
  }
}

/** What the program of a failed activity printed; undefined if the activity is no program. */
export const failedOutput = (error: unknown): ProgramOutput | undefined =>
  error instanceof Error && error.cause instanceof FailedProgram ? error.cause.output : undefined

const withLines = (lines: readonly string[]) => (lines.length === 0 ? '' : `: ${lines.join(' | ')}`)

/** An argument that an expression has computed must not contain a NUL character, which would end it. */
function refuseNul(activity: string, argv: readonly string[]): void {
  if (argv.some((argument) => argument.includes('\0')))
    throw new SvcError('workflow_activity_failed', {activity, reason: 'an argument contains a NUL character'})
}

/** @throws workflow_activity_failed */
export function parseJson(activity: string, text: string): unknown {
  try {
    return parseExactJson(text)
  } catch (error) {
    throw new SvcError('workflow_activity_failed', {
      activity,
      reason: `its output cannot be parsed as JSON: ${(error as Error).message}`,
    })
  }
}
