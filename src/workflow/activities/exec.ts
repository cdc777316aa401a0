import {relative, resolve} from 'node:path'
import {SvcError} from '../../errors/index.js'
import {containedPath, parseExactJson} from '../../files/index.js'
import {
  type GroupEnd,
  inheritedEnvironment,
  type KeptOutput,
  killIfRunning,
  LineSplitter,
  type OutputListener,
  type OutputSource,
  processesWith,
  runInGroup,
  withGap,
} from '../../process/index.js'
import type {ActivityKey, ProgramOutput} from '../store/activities.js'
import {OutputFiles} from '../store/output-files.js'
import {type Call, type Executor, localEvent} from './executor.js'

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
  async run(call, signal) {
    const {context, ports, key, name, args, attempt} = call
    const {argv, env, json, cwd} = args
    refuseNul(name, argv)
    // A process of an attempt that was interrupted may still be running.
    if (attempt > 1) for (const pid of processesWith(marker, markerOf(key))) killIfRunning(pid)
    const [program = '', ...rest] = argv
    const limit = json ? maxJsonBytes : maxOutputBytes
    const output = new ProgramOutputs(call, limit)
    const {user} = context.config.exec
    let end: GroupEnd | undefined
    try {
      end = await runInGroup(
        {
          argv: [program, ...rest],
          cwd: await folderOf(context.root, cwd),
          env: {
            ...inheritedEnvironment(ports.env, user),
            ...env,
            SVC_WORKFLOW_RUN_ID: key.runId,
            SVC_WORKFLOW_ATTEMPT: String(attempt),
            [marker]: markerOf(key),
          },
          timeoutMs: Number.POSITIVE_INFINITY,
          user,
          maxOutputBytes: limit,
        },
        signal,
        output,
      )
      const {exitCode, signal: killedBy, output: kept} = end
      const fail = (reason: string) => new SvcError('workflow_activity_failed', {activity: name, reason})
      if (exitCode !== 0)
        throw fail(
          `${program} ${killedBy === null ? `exited with status ${exitCode}` : `was terminated by ${killedBy}`}${withLines(kept.lastLines(3))}`,
        )
      if (json && kept.missing > 0) throw fail(`its output is larger than ${limit} bytes, the limit for json`)
      const parsed = json ? {json: parseJson(name, kept.text('stdout'))} : {}
      return {
        result: {...output.streams(maxOutputBytes), exit_code: exitCode, ...parsed},
        event: localEvent(name),
      }
    } catch (error) {
      // The output of a program that did not end in time says how far it came.
      if (error instanceof SvcError) error.cause ??= output.failed(end)
      throw error
    } finally {
      output.close()
    }
  },
}

/** The directory of a program. @throws path_denied, file_not_found */
async function folderOf(root: string, cwd: string | undefined): Promise<string> {
  const isRoot = cwd === undefined || relative(root, resolve(root, cwd)) === ''
  return isRoot ? root : containedPath(root, cwd)
}

/** The output of a program while it runs: what is kept of it, its lines, and the files of a long one. */
class ProgramOutputs implements OutputListener {
  readonly #files: OutputFiles
  readonly #lines: LineSplitter | undefined
  readonly #limit: number
  #kept: KeptOutput | undefined

  constructor({context, key, name, ports: {onLine}}: Call<'exec'>, limit: number) {
    this.#files = new OutputFiles(context, key)
    this.#limit = limit
    this.#lines = onLine && new LineSplitter((source, text) => onLine({activity: name, source, text}))
  }

  onPiece = (source: OutputSource, text: string, kept: KeptOutput): void => {
    this.#kept = kept
    this.#lines?.add(source, text)
    this.#files.add(source, text, kept, this.#limit)
  }

  /** The streams, without the middle of what is longer than a limit; the files then have the whole of it. */
  streams(limit: number): Omit<ProgramOutput, 'exit_code'> {
    const kept = this.#kept
    if (kept === undefined) return {stdout: '', stderr: ''}
    const stdout = withoutMiddle(kept.text('stdout'), limit)
    const stderr = withoutMiddle(kept.text('stderr'), limit)
    const texts = {stdout: stdout.text, stderr: stderr.text}
    if (kept.missing === 0 && !stdout.isCut && !stderr.isCut) return texts
    const files = this.#files.end(kept)
    return {...texts, truncated: true, ...(files === undefined ? {} : {files})}
  }

  /** @param end undefined for a program that did not end in time, or did not start */
  failed(end: GroupEnd | undefined): FailedProgram | undefined {
    if (end === undefined && this.#kept === undefined) return undefined
    return new FailedProgram({exit_code: end?.exitCode ?? null, ...this.streams(maxFailedCharacters)})
  }

  close(): void {
    this.#lines?.end()
    this.#files.close()
  }
}

/** The first quarter and the end of a text that has too many characters. */
function withoutMiddle(text: string, limit: number): {text: string; isCut: boolean} {
  if (text.length <= limit) return {text, isCut: false}
  const head = Math.floor(limit / 4)
  const tail = text.length - (limit - head)
  return {text: withGap(text.slice(0, head), Buffer.byteLength(text.slice(head, tail)), text.slice(tail)), isCut: true}
}

/** What a program printed that failed: the cause of the failure of its activity. */
class FailedProgram extends Error {
  override readonly name = 'FailedProgram'
  readonly output: ProgramOutput

  constructor(output: ProgramOutput) {
    super('The program failed.')
    this.output = output
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
