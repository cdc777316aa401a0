import {randomUUID} from 'node:crypto'
import os from 'node:os'
import {setTimeout as sleep} from 'node:timers/promises'
import {isErrorOf, SvcError} from '../../errors/index.js'
import {logger} from '../../log/index.js'
import {retryHeldPlans} from '../../plans/index.js'
import {onAbort} from '../../process/index.js'
import {type Sessions, sessionsOf} from '../../sessions/index.js'
import {isTransient, watchStore} from '../../store/index.js'
import {
  DaemonLease,
  type EventRecord,
  emergencyStopOf,
  HiddenRuns,
  lastEventId,
  lostRuns,
  pruneRecords,
  readEvents,
  recoverRuns,
  releaseAbandoned,
  startRuns,
  type TaskRun,
  takeLease,
  watchAgents,
} from '../../tasks/index.js'
import type {WorkspaceContext} from '../../workspace/index.js'
import type {Processor} from '../processors/processor.js'
import {type ResourceSample, readResources, resourceUsage} from '../scaling/load.js'
import {scalingTick} from '../scaling/tick.js'
import {type RunningTask, runTask} from './run-task.js'

/** Work that a daemon does in addition to its runs. */
export interface Companion {
  /** Tasks may have been queued, cancelled or moved. Must not throw. */
  wake(): void
  /** Called when the loop stops, while runs may continue. */
  stop(): Promise<void>
}

export interface DaemonOptions {
  /** External tasks are run by clients. */
  processors: Readonly<Record<'ai' | 'exec', Processor>>
  /** Stops the loop: runs may continue for `drainMs`, then they are aborted and queued again. */
  signal: AbortSignal
  /** False leaves queued tasks to clients that claim them. */
  runsTasks?: boolean
  drainMs?: number
  /** Called once the lease is held and the tasks of a predecessor are queued again. */
  onReady?: (lease: DaemonLease, recovered: number) => void
  /** Called with all events, whichever process wrote them. */
  onEvents?: (events: readonly EventRecord[]) => void
  /** Starts the delegation of tasks to other nodes. */
  delegator?: ((lease: DaemonLease) => Companion | undefined) | undefined
  /** Starts the continuation of workflow runs. */
  workflows?: (() => Companion) | undefined
  /** False relies on the poll only. */
  watchesStore?: boolean
  /** Interval between polls for changes that the file system does not report, ms. */
  pollMs?: number
  /** Interval between maintenance rounds, ms. */
  tickMs?: number
}

const defaultPollMs = 50
const defaultTickMs = 1000
/** Delays of the checks after a reported write, ms: the report can precede the end of the commit. */
const checkDelaysMs = [1, 2, 4, 8, 16]
/** Minimum interval between a round that found changes and one caused by a report, ms; a burst of writes is coalesced. */
const coalesceMs = 5
/** Interval between checks of the runs that the end of the loop waits for, ms. */
const drainPollMs = 50
const defaultDrainMs = 10_000

/**
 * Runs the tasks of a workspace, one at a time per agent. Only one loop runs per workspace. It keeps no state that its
 * successor needs: if it is killed, another process takes over the lease and queues its tasks again. While the disk is full,
 * it waits.
 * @throws daemon_running, daemon_replaced; store_busy if the store stays locked; store_unwritable if the disk is full at the
 * start or the end
 */
export async function runDaemon(context: WorkspaceContext, options: DaemonOptions): Promise<void> {
  const holder = `${os.hostname()}:${process.pid}:${randomUUID().slice(0, 8)}`
  const lease = takeLease(context, holder)
  const loop = new Loop(context, lease, options)
  try {
    const recovered = recoverRuns(context, lease)
    await loop.hidden.start()
    loop.companions = [options.delegator?.(lease), options.workflows?.()].filter((each) => each !== undefined)
    options.onReady?.(lease, recovered)
    await loop.run()
  } catch (error) {
    loop.fault ??= error
    throw error
  } finally {
    await loop.drain()
    lease.release()
    loop.emitEvents()
  }
  if (loop.fault !== undefined) throw loop.fault
}

/** Differs from every store version, so that the store is read again. */
const unknownVersion = -1

class Loop {
  readonly #context: WorkspaceContext
  readonly #lease: DaemonLease
  readonly #options: DaemonOptions
  readonly #runs = new Map<number, RunningTask>()
  readonly #sessions: Sessions
  #resources: ResourceSample = readResources()
  /** Start of the watch for agents without activity, Unix ms. */
  #watchedSince: number
  #lastEvent: number
  #dataVersion = unknownVersion
  #renewed = performance.now()
  #ticked = Number.NEGATIVE_INFINITY
  /** Time of the last round that found changes, ms. */
  #changedAt = Number.NEGATIVE_INFINITY
  /** Number of checks made since the last reported write. */
  #checks = checkDelaysMs.length
  /** True during a round, whose own writes need no further round. */
  #isInRound = false
  /** True if this store has been written to outside a round; `data_version` does not show it. */
  #isWritten = false
  /** True since a write failed because the disk is full, until one succeeds. */
  #isUnwritable = false
  readonly #stopWatching: () => void
  /** The error that ended the loop. */
  fault: unknown
  readonly hidden: HiddenRuns
  companions: readonly Companion[] = []
  #wake: () => void = () => undefined
  /** Brings the end of the current pause forward after a reported write. */
  #hurry: () => void = () => undefined

  constructor(context: WorkspaceContext, lease: DaemonLease, options: DaemonOptions) {
    this.#context = context
    this.#lease = lease
    this.#options = options
    this.#sessions = sessionsOf(context)
    this.hidden = new HiddenRuns(context, lease)
    this.#watchedSince = context.now()
    this.#lastEvent = lastEventId(context)
    this.#stopWatching =
      options.watchesStore === false ? () => undefined : watchStore(context.store, (isOwn) => this.#onWrite(isOwn))
  }

  async run(): Promise<void> {
    const {signal} = this.#options
    while (!signal.aborted) {
      this.#isInRound = true
      try {
        this.#round()
        this.#isUnwritable = false
      } catch (error) {
        // Another process holds the lock for long, or the disk is full: the next round tries again while the lease is held.
        if (!isTransient(error)) throw error
        this.#dataVersion = unknownVersion
        if (isErrorOf(error, 'store_unwritable')) this.#onUnwritable(error)
      } finally {
        this.#isInRound = false
      }
      if (this.fault !== undefined) throw this.fault
      await this.#pause()
    }
  }

  /** Makes the next round begin with a write, which shows whether the disk is still full. */
  #onUnwritable(error: SvcError): void {
    this.#renewed = Number.NEGATIVE_INFINITY
    if (!this.#isUnwritable)
      logger('svc.orchestrator').error({err: error}, 'the store cannot be written; the daemon continues when it can')
    this.#isUnwritable = true
  }

  #round(): void {
    const {tickMs = defaultTickMs} = this.#options
    const now = performance.now()
    const isTick = now - this.#ticked >= tickMs
    this.#renew()
    if (isTick) {
      this.#ticked = now
      this.#upkeep()
    }
    const hasChanged = this.#hasChanged()
    if (hasChanged) this.#changedAt = now
    if (!hasChanged && !isTick) return
    this.#endLostRuns()
    this.#dispatch()
    this.hidden.wake()
    for (const companion of this.companions) companion.wake()
    this.emitEvents()
  }

  /** Waits for runs to finish; those that exceed the drain time are aborted and queued again. */
  async drain(): Promise<void> {
    this.#stopWatching()
    const companions = Promise.all(this.companions.map((companion) => companion.stop()))
    const {drainMs = defaultDrainMs} = this.#options
    const started = performance.now()
    while (this.#runs.size > 0) {
      const limitMs = this.fault === undefined ? drainMs : 0
      if (performance.now() - started >= limitMs) this.#endAll()
      else this.#whileDraining()
      const ended = [...this.#runs.values()].map(({done}) => done.catch(() => undefined))
      await Promise.race([Promise.all(ended), sleep(drainPollMs)])
    }
    await companions
    await this.hidden.stop()
  }

  /** Ends all runs. If the lease has been taken over, their tasks belong to the new holder and are not queued again. */
  #endAll(): void {
    const isReplaced = isErrorOf(this.fault, 'daemon_replaced')
    for (const run of this.#runs.values()) run.end(isReplaced ? 'claim_lost' : 'draining')
  }

  /** Keeps the lease, ends cancelled tasks and runs hidden checks while draining. */
  #whileDraining(): void {
    try {
      this.#renew()
      this.#endLostRuns()
      this.hidden.wake()
    } catch (error) {
      if (!isTransient(error)) this.fault ??= error
    }
  }

  #renew(): void {
    if (performance.now() - this.#renewed < DaemonLease.renewalMs) return
    this.#lease.renew()
    this.#renewed = performance.now()
  }

  /** Emits the events since the last call. */
  emitEvents(): void {
    const {onEvents} = this.#options
    while (onEvents !== undefined) {
      const events = readEvents(this.#context, {since: this.#lastEvent})
      const last = events.at(-1)
      if (last === undefined) return
      this.#lastEvent = last.id
      onEvents(events)
    }
  }

  #upkeep(): void {
    const {config} = this.#context
    const resources = readResources()
    const usage = resourceUsage(this.#resources, resources)
    this.#resources = resources
    this.#lease.transaction(() => {
      releaseAbandoned(this.#context)
      retryHeldPlans(this.#context)
      scalingTick(this.#context, usage)
      pruneRecords(this.#context, config.eventRetentionDays)
      this.#sessions.tick()
      this.#watch()
    })
  }

  /** While stopped, no agent is expected to work. */
  #watch(): void {
    const {now} = this.#context
    if (emergencyStopOf(this.#context) !== undefined || this.#watchedSince > now()) this.#watchedSince = now()
    else watchAgents(this.#context, this.#watchedSince)
  }

  /** True if another process has written, or this one outside the loop. */
  #hasChanged(): boolean {
    const row = this.#context.store.get<{data_version: number}>('PRAGMA data_version')
    const version = row?.data_version ?? 0
    const changed = this.#isWritten || version !== this.#dataVersion
    this.#dataVersion = version
    this.#isWritten = false
    return changed
  }

  /** Ends runs of tasks that were cancelled, doubted or moved in the meantime. */
  #endLostRuns(): void {
    for (const {task} of lostRuns(this.#context, this.#taskRuns())) this.#runs.get(task.id)?.end('claim_lost')
  }

  #taskRuns(): TaskRun[] {
    return [...this.#runs.values()].map(({run}) => run)
  }

  #dispatch(): void {
    if (this.#options.runsTasks === false) return
    for (const run of startRuns(this.#context, this.#lease, this.#taskRuns())) this.#start(run)
  }

  #start(run: TaskRun): void {
    const {processor: name, id} = run.task
    const running = runTask(this.#context, this.#lease, run, this.#options.processors[name as 'ai' | 'exec'])
    this.#runs.set(id, running)
    running.done
      .catch((error: unknown) => {
        // The result could not be written to a full disk before the end: the next daemon queues the task again.
        if (!isErrorOf(error, 'store_unwritable'))
          this.fault ??= error ?? new SvcError('internal', {reason: 'a run ended without a reason'})
      })
      .finally(() => {
        this.#runs.delete(id)
        this.#dataVersion = unknownVersion
        this.#wake()
      })
  }

  /** Checks soon whether there are changes, and some times more, because the report can precede the commit. */
  #onWrite(isOwn: boolean): void {
    if (isOwn && this.#isInRound) return
    this.#isWritten ||= isOwn
    this.#checks = 0
    this.#hurry()
  }

  /**
   * Waits for a reported write, the end of a run, the next poll or the next maintenance round, at least long enough to
   * serve signals and sockets.
   */
  #pause(): Promise<void> {
    let stopListening = () => {}
    const woken = new Promise<void>((resolve) => {
      const wake = () => {
        clearTimeout(timer)
        this.#wake = () => undefined
        this.#hurry = () => undefined
        setImmediate(resolve)
      }
      let timer = setTimeout(wake, this.#pauseMs())
      this.#wake = wake
      this.#hurry = () => {
        // Once per pause: otherwise a burst of reports would postpone the next round again and again.
        this.#hurry = () => undefined
        clearTimeout(timer)
        timer = setTimeout(wake, this.#pauseMs())
      }
      stopListening = onAbort(this.#options.signal, wake)
    })
    return woken.finally(stopListening)
  }

  /** Duration of the next pause, ms. */
  #pauseMs(): number {
    const {pollMs = defaultPollMs, tickMs = defaultTickMs} = this.#options
    if (this.#isUnwritable) return tickMs
    if (this.#dataVersion === unknownVersion) return 0
    const now = performance.now()
    const check = checkDelaysMs[this.#checks++]
    return Math.min(
      pollMs,
      check === undefined ? pollMs : Math.max(check, this.#changedAt + coalesceMs - now),
      Math.max(0, this.#ticked + tickMs - now),
      Math.max(0, this.#renewed + DaemonLease.renewalMs - now),
    )
  }
}
