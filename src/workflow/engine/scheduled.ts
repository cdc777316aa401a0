import {createHash} from 'node:crypto'
import {stat} from 'node:fs/promises'
import {resolve} from 'node:path'
import {isErrorOf} from '../../errors/index.js'
import {logger} from '../../log/index.js'
import type {WorkspaceContext} from '../../workspace/index.js'
import type {Schedule} from '../definition/cron.js'
import type {Workflow} from '../definition/definition.js'
import {readWorkflows} from '../definition/read.js'
import {dueTime, scheduledRuns, setDueTime} from '../store/schedules.js'
import {createRun} from './runs.js'

/** Delay up to which a start counts as on time, ms: a daemon that takes over needs some of it. */
const graceMs = 60_000
/** Interval between checks whether a file has changed, ms. */
const readMs = 5000

interface ReadFile {
  /** Time and size of the file when it was read. */
  readonly state: string
  /** Its workflows with a schedule; those of the last valid content while the file is invalid. */
  readonly workflows: readonly Workflow[]
}

/** Starts the workflows of the configured files whose time has come. */
export class ScheduledWorkflows {
  readonly #context: WorkspaceContext
  readonly #files = new Map<string, ReadFile>()
  #readAt = Number.NEGATIVE_INFINITY
  #reading: Promise<void> | undefined

  constructor(context: WorkspaceContext) {
    this.#context = context
  }

  /**
   * Starts what is due, and reads changed files for the next call.
   * @returns ids of the runs, which no process drives yet
   */
  start(): string[] {
    this.#readSoon()
    return [...this.#files].flatMap(([file, {workflows}]) =>
      workflows.flatMap((workflow) => startDue(this.#context, workflow, file)),
    )
  }

  /** Resolves when the files have been read. */
  async read(): Promise<void> {
    this.#readAt = performance.now()
    const names = scheduledFiles(this.#context)
    for (const file of this.#files.keys()) if (!names.includes(file)) this.#files.delete(file)
    await Promise.all(names.map((file) => this.#readFile(file)))
  }

  #readSoon(): void {
    if (this.#reading !== undefined || performance.now() - this.#readAt < readMs) return
    this.#reading = this.read().finally(() => {
      this.#reading = undefined
    })
  }

  async #readFile(file: string): Promise<void> {
    const {state: known, workflows: last = []} = this.#files.get(file) ?? {}
    const state = await stat(file).then(
      ({mtimeMs, size}) => `${mtimeMs} ${size}`,
      () => 'missing',
    )
    if (state === known) return
    try {
      const workflows = (await readWorkflows(file)).filter(({schedule}) => schedule !== undefined)
      this.#files.set(file, {state, workflows})
    } catch (error) {
      this.#files.set(file, {state, workflows: last})
      logger('svc.workflow').warn({err: error, file}, 'cannot read a file with scheduled workflows')
    }
  }
}

/** Absolute paths of the files whose workflows the daemon starts. */
export const scheduledFiles = ({config, root}: WorkspaceContext): string[] =>
  config.workflowFiles.map((name) => resolve(root, name))

/** The time of the next start if a daemon runs, Unix ms: in the past for a start that is late. Undefined if there is none. */
export function nextStart(context: WorkspaceContext, {name, schedule}: Workflow, file: string): number | undefined {
  if (schedule === undefined) return undefined
  const now = context.now()
  const due = dueTime(context, {file, workflow: name, schedule: schedule.source}) ?? schedule.next(now)
  if (due === undefined || due === never) return undefined
  return due > now ? due : (startTimes(schedule, due, now)[0] ?? schedule.next(now))
}

/** Stored as the due time of a schedule that has no more times. */
const never = Number.MAX_SAFE_INTEGER

/**
 * Starts a workflow if its time has come, and stores the next one in the same transaction: each time has one run,
 * whichever process notices it. A new schedule starts with its first time from now on.
 * @returns ids of the runs
 */
export function startDue(context: WorkspaceContext, workflow: Workflow, file: string): string[] {
  const {schedule} = workflow
  if (schedule === undefined) return []
  const now = context.now()
  const key = {file, workflow: workflow.name, schedule: schedule.source}
  if ((dueTime(context, key) ?? now) > now) return []
  return context.store.transaction(() => {
    const due = dueTime(context, key)
    if (due !== undefined && due > now) return []
    setDueTime(context, key, schedule.next(now) ?? never)
    if (due === undefined) return []
    return startTimes(schedule, due, now).flatMap((at) => startAt(context, workflow, file, at))
  })
}

/** The times that get a run: those of the last moment, or else one of the missed times if the schedule wants it. */
function startTimes(schedule: Schedule, due: number, now: number): number[] {
  const times: number[] = []
  const from = Math.max(due - 1, now - graceMs - 1)
  for (let at = schedule.next(from); at !== undefined && at <= now; at = schedule.next(at)) times.push(at)
  const onTime = times.filter((at) => at >= due)
  return onTime.length > 0 || schedule.missed === 'skip' ? onTime : [due]
}

function startAt(context: WorkspaceContext, workflow: Workflow, file: string, at: number): string[] {
  const time = new Date(at).toISOString().replace(/\.000Z$/, 'Z')
  const of = createHash('sha256').update(file).digest('hex').slice(0, 8)
  try {
    return [
      createRun(context, workflow, {runId: `${scheduledRuns(workflow.name)}${time}-${of}`, input: {}, source: file})
        .run_id,
    ]
  } catch (error) {
    if (isErrorOf(error, 'workflow_run_exists')) return []
    throw error
  }
}
