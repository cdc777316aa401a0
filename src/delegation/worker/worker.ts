import {setTimeout as sleep} from 'node:timers/promises'
import {holdLockFile} from '../../files/index.js'
import {logger} from '../../log/index.js'
import {jittered, remoteTypes, type StoredMessage, workerLock} from '../../mesh/index.js'
import {aborted} from '../../process/index.js'
import type {Delegation} from './job.js'
import {type JobOptions, type JobReport, runJob} from './run-job.js'
import {clearWork} from './work-folder.js'

/** A task as its parent names it. */
type TaskName = Pick<Delegation, 'task_id' | 'idempotency_key'>

export type WorkerEvent =
  /** Another process of this machine works for the mesh; this one continues when that process ends. */
  | {type: 'waiting'}
  | {type: 'ready'}
  | {type: 'started'; task: TaskName}
  | ({type: 'ended'; task?: TaskName | undefined} & Omit<JobReport, 'task'>)
  /** The control plane does not respond or refuses this worker, which tries again. */
  | {type: 'failed'; error: Error; failures: number; nextMs: number}

export interface WorkerOptions extends Omit<JobOptions, 'onStart'> {
  pollIntervalSecs: number
  /** Maximum number of tasks at a time; default 1. */
  slots?: number | undefined
  /** Senders whose tasks this worker does not accept: the parent on the same machine. */
  excludeSenders?: readonly string[] | undefined
  /** Time that running tasks have to end when the worker is stopped, ms. */
  drainMs: number
  /** Stops the worker. */
  signal: AbortSignal
  onEvent?: ((event: WorkerEvent) => void) | undefined
  /** Returns numbers in [0, 1); default `Math.random`. */
  random?: (() => number) | undefined
}

/** Interval between two attempts to become the worker of this machine, ms. */
const lockPollMs = 1000
/** Maximum time that the control plane holds a request for messages, ms. */
const maxWaitMs = 30_000
const maxPauseMs = 60_000
/** Interval and timeout of the reports of the number of running tasks, ms. */
const reportMs = 30_000
const reportTimeoutMs = 3000
/** Time after which a changed number is reported, so that short tasks cause no requests, ms. */
const reportDelayMs = 1000

/**
 * Runs the tasks that other machines send to this one, until stopped. Only one worker runs per machine; another one
 * waits. Running tasks then have `drainMs` to end. After that they are aborted, and their messages return to the inbox.
 * @throws file_unwritable
 */
export async function runWorker(options: WorkerOptions): Promise<void> {
  const {folder, signal, onEvent = () => undefined} = options
  const lock = await acquireLock(folder, signal, () => onEvent({type: 'waiting'}))
  if (lock === undefined) return
  try {
    await clearWork(folder)
    onEvent({type: 'ready'})
    await new Worker(options, onEvent).run()
  } finally {
    await lock.release()
  }
}

/** Returns undefined if the signal aborts first. */
async function acquireLock(folder: string, signal: AbortSignal, onWait: () => void) {
  for (let isReported = false; !signal.aborted; isReported = true) {
    const lock = await holdLockFile(workerLock(folder))
    if (lock !== undefined) return lock
    if (!isReported) onWait()
    await sleep(lockPollMs, undefined, {signal}).catch(() => undefined)
  }
  return undefined
}

class Worker {
  readonly #options: WorkerOptions
  readonly #onEvent: (event: WorkerEvent) => void
  /** Running tasks by message id. */
  readonly #running = new Map<number, Promise<void>>()
  /** Aborts when the drain time is over. */
  readonly #abort = new AbortController()
  readonly #intervalMs: number
  /** Consecutive failures. */
  #failures = 0
  /** The latest report of the number of running tasks; reports must not overtake each other. */
  #reported: Promise<unknown> = Promise.resolve()
  #reportedCount = 0
  #reportTimer: NodeJS.Timeout | undefined

  constructor(options: WorkerOptions, onEvent: (event: WorkerEvent) => void) {
    this.#options = options
    this.#onEvent = onEvent
    this.#intervalMs = Math.max(1, options.pollIntervalSecs) * 1000
  }

  async run(): Promise<void> {
    const {signal, slots = 1} = this.#options
    const stopped = aborted(signal)
    // A report can be lost, and the node can join again without its number of tasks.
    const reporting = setInterval(() => this.#report(), reportMs)
    this.#report()
    while (!signal.aborted)
      if (this.#running.size >= slots) await Promise.race([stopped, ...this.#running.values()])
      else await this.#claimNext()
    await this.#drain()
    clearInterval(reporting)
    clearTimeout(this.#reportTimer)
    this.#reportChange()
    await this.#reported
  }

  /** Claims the next message and starts its task. Waits if there is none. */
  async #claimNext(): Promise<void> {
    const {signal} = this.#options
    const startedMs = performance.now()
    const waitMs = jittered(Math.min(this.#intervalMs, maxWaitMs / 1.1), this.#options.random)
    try {
      const message = await this.#claim(waitMs)
      if (message !== undefined) return this.#start(message)
      this.#failures = 0
      // A control plane that stops or cannot wait responds early.
      await sleep(Math.max(0, waitMs - (performance.now() - startedMs)), undefined, {signal})
    } catch (error) {
      if (!signal.aborted) await this.#pauseAfter(error as Error)
    }
  }

  async #claim(waitMs: number): Promise<StoredMessage | undefined> {
    const {mesh, node, receiver, excludeSenders, signal} = this.#options
    const [message] = await mesh.inbox(
      {
        receiver,
        claimer: node,
        waitMs,
        messageTypes: [remoteTypes.envelope],
        // Otherwise the control plane returns the message of a running task again.
        ...(this.#running.size === 0 ? {} : {excludeMessageIds: [...this.#running.keys()]}),
        ...(excludeSenders === undefined ? {} : {excludeSenderAgentIds: excludeSenders}),
      },
      {signal},
    )
    return message
  }

  #start(message: StoredMessage): void {
    const nameOf = ({task_id, idempotency_key}: Delegation): TaskName => ({task_id, idempotency_key})
    const onStart = (task: Delegation) => this.#onEvent({type: 'started', task: nameOf(task)})
    const work = async () => {
      try {
        const {task, ...report} = await runJob({...this.#options, onStart}, message, this.#abort.signal)
        this.#failures = 0
        this.#onEvent({type: 'ended', task: task && nameOf(task), ...report})
      } catch (error) {
        // The control plane returns the same message to this node again, so the slot stays occupied meanwhile.
        if (!this.#abort.signal.aborted) await this.#pauseAfter(error as Error)
      }
    }
    this.#running.set(
      message.id,
      work().finally(() => {
        this.#running.delete(message.id)
        this.#reportSoon()
      }),
    )
    this.#reportSoon()
  }

  #reportSoon(): void {
    this.#reportTimer ??= setTimeout(() => {
      this.#reportTimer = undefined
      this.#reportChange()
    }, reportDelayMs)
  }

  #reportChange(): void {
    if (this.#running.size !== this.#reportedCount) this.#report()
  }

  /** Adds the number of running tasks to the record of this node. */
  #report(): void {
    const {mesh, node, scope} = this.#options
    const send = () => {
      this.#reportedCount = this.#running.size
      const facts = {id: node, ...(scope === undefined ? {} : {scope_id: scope}), running_tasks: this.#reportedCount}
      return mesh.heartbeat(facts, {retry: false, timeoutMs: reportTimeoutMs})
    }
    this.#reported = this.#reported
      .then(send)
      .catch((error: unknown) => logger('svc.mesh').debug({err: error}, 'cannot report the running tasks'))
  }

  async #pauseAfter(error: Error): Promise<void> {
    const nextMs = jittered(Math.min(this.#intervalMs * 2 ** this.#failures++, maxPauseMs), this.#options.random)
    logger('svc.mesh').debug({err: error}, 'worker request failed')
    this.#onEvent({type: 'failed', error, failures: this.#failures, nextMs})
    await sleep(nextMs, undefined, {signal: this.#options.signal}).catch(() => undefined)
  }

  async #drain(): Promise<void> {
    const over = setTimeout(() => this.#abort.abort(), this.#options.drainMs)
    await Promise.all(this.#running.values())
    clearTimeout(over)
  }
}
