import {setMaxListeners} from 'node:events'
import type {WorkflowJournalEntry} from '../../contracts/index.js'
import {isErrorOf} from '../../errors/index.js'
import {forwardAbort} from '../../process/index.js'
import {isTransient, watchStore} from '../../store/index.js'
import {notify, type WorkspaceContext} from '../../workspace/index.js'
import type {ActivityPorts} from '../activities/executor.js'
import {withdrawTasks} from '../activities/task.js'
import {compileWorkflow} from '../definition/compile.js'
import type {Workflow} from '../definition/definition.js'
import {Journal} from '../store/journal.js'
import {
  type DriverKind,
  leaseOwner,
  leaseTtlMs,
  type Release,
  releaseLease,
  renewLease,
  requireLease,
  takeLease,
} from '../store/lease.js'
import {definitionOf, type RunRow, requireRun} from '../store/runs.js'
import {ActivityFailure, Cancellation, failureText, NotReached, Suspension} from './control-errors.js'
import {Execution} from './execution.js'
import {type Condition, type WaitingFor, Waits} from './waits.js'

export interface DriveOptions {
  readonly ports: ActivityPorts
  /** Interrupts the run: another process can continue it. */
  readonly signal: AbortSignal
  /** Called for each entry of the journal, after it is stored. */
  readonly onEntry?: ((entry: WorkflowJournalEntry) => void) | undefined
  /** Called when all activities wait, with what they wait for. */
  readonly onWaiting?: ((waiting: readonly WaitingFor[]) => void) | undefined
  /** Stay in the process while the run waits. Otherwise it leaves, unless it continues within a moment. */
  readonly stays: boolean
  /** Default: command. */
  readonly kind?: DriverKind
}

/** A run in this process. */
export interface Driven {
  /** The row of the run when the process lets go of it. @throws workflow_lease_lost; the reason of the signal */
  readonly done: Promise<RunRow>
  /** Looks for signals, ended tasks and a request to cancel, after the tables have changed. */
  check(): void
}

/** Interval at which changes are looked for that no file system event reports, ms. */
const pollMs = 1000
/** A burst of writes is looked at once, ms. */
const coalesceMs = 5
/** A run whose wait ends within this time does not leave the process, ms. */
const shortWaitMs = 250

/**
 * Continues a run until it ends, waits, or is interrupted. Takes the lease of the run first.
 * @param workflow its definition, if it is compiled already
 * @throws workflow_run_not_found, workflow_finished, workflow_lease_held
 */
export function driveRun(
  context: WorkspaceContext,
  runId: string,
  options: DriveOptions & {workflow?: Workflow | undefined},
): Driven {
  const owner = leaseOwner(options.kind ?? 'command')
  const run = takeLease(context, runId, owner)
  const driver = new Driver(context, run, {...options, owner})
  return {done: driver.run(), check: () => driver.check()}
}

class Driver {
  readonly #context: WorkspaceContext
  readonly #run: RunRow
  readonly #owner: string
  readonly #options: DriveOptions
  readonly #workflow: Workflow
  readonly #journal: Journal
  readonly #waits: Waits
  readonly #abort = new AbortController()
  #checkTimer: NodeJS.Timeout | undefined
  /** What the run waited for when it left. */
  #left: readonly Condition[] | undefined

  constructor(
    context: WorkspaceContext,
    run: RunRow,
    options: DriveOptions & {owner: string; workflow?: Workflow | undefined},
  ) {
    this.#context = context
    this.#run = run
    this.#owner = options.owner
    this.#options = options
    const {run_id: runId, workflow_name: workflow} = run
    this.#workflow = options.workflow ?? compileWorkflow(workflow, definitionOf(run), runId)
    this.#journal = new Journal(context, {workflow, runId, onEntry: options.onEntry})
    this.#waits = new Waits(context.now, () => this.#onIdle())
    // One listener for each activity that runs or waits.
    setMaxListeners(0, this.#abort.signal)
  }

  async run(): Promise<RunRow> {
    const {signal, stays} = this.#options
    const stopListening = forwardAbort(signal, this.#abort)
    const stopWatching = stays
      ? watchStore(this.#context.store, (isOwn) => !isOwn && this.#checkSoon())
      : () => undefined
    const poll = setInterval(() => this.check(), pollMs)
    const renewal = setInterval(() => this.#renew(), leaseTtlMs / 3)
    try {
      await this.#drive()
      return requireRun(this.#context, this.#run.run_id)
    } finally {
      stopListening()
      stopWatching()
      clearInterval(poll)
      clearInterval(renewal)
      clearTimeout(this.#checkTimer)
      this.#waits.close()
    }
  }

  check(): void {
    try {
      if (this.#isCancelled()) this.#abort.abort(new Cancellation('The run is cancelled.'))
      else this.#waits.check()
    } catch (error) {
      if (!isTransient(error)) this.#abort.abort(error)
    }
  }

  #checkSoon(): void {
    this.#checkTimer ??= setTimeout(() => {
      this.#checkTimer = undefined
      this.check()
    }, coalesceMs)
  }

  #isCancelled(): boolean {
    if (this.#run.is_unwinding === 1) return false
    const {run_id: id} = this.#run
    const {cancel_requested_at_ms: at} = requireRun(this.#context, id)
    return at !== null
  }

  #renew(): void {
    try {
      const lease = {runId: this.#run.run_id, owner: this.#owner}
      // This also records the entries of steps that were followed by a wait in another branch.
      this.#journal.write(() => {
        requireLease(this.#context, lease)
        renewLease(this.#context, lease)
      })
    } catch (error) {
      if (!isTransient(error)) this.#abort.abort(error)
    }
  }

  async #drive(): Promise<void> {
    const {run_id, workflow_name: workflow, planned_steps: steps, is_unwinding} = this.#run
    const execution = this.#execution(this.#run)
    try {
      execution.log.write(() => {
        this.#journal.append({event: 'WorkflowStarted', steps})
        this.#journal.emit({type: 'workflow_started', run_id, workflow})
      })
      if (is_unwinding === 1) return await this.#unwind(this.#run.last_error ?? 'the run failed earlier')
      if (this.#isCancelled()) throw new Cancellation('The run is cancelled.')
      const output = await execution.steps(this.#abort.signal)
      execution.log.writeEnd(() => {
        this.#release({status: 'completed', output})
        this.#journal.append({event: 'WorkflowCompleted', output})
        this.#journal.emit({type: 'workflow_completed', run_id, workflow})
      })
    } catch (error) {
      const end = this.#abort.signal.aborted ? this.#abort.signal.reason : error
      if (end instanceof Suspension) return this.#leave()
      if (end instanceof ActivityFailure || end instanceof Cancellation) return this.#unwind(failureText(end))
      if (!isErrorOf(end, 'workflow_lease_lost')) this.#interrupt()
      throw end
    }
  }

  #execution(run: RunRow): Execution {
    return new Execution(this.#context, run, this.#workflow, {
      ports: this.#options.ports,
      journal: this.#journal,
      waits: this.#waits,
      owner: this.#owner,
      onCancel: () => this.#abort.abort(new Cancellation('The run is cancelled.')),
    })
  }

  /** Undoes what the run has done, and ends it. */
  async #unwind(reason: string): Promise<void> {
    const {run_id, workflow_name: workflow} = this.#run
    const {signal} = this.#options
    const run: RunRow = {...requireRun(this.#context, run_id), is_unwinding: 1}
    const execution = this.#execution(run)
    const end = run.cancel_requested_at_ms === null ? 'failed' : 'cancelled'
    try {
      // Tasks of compensations, which an earlier process has submitted, continue.
      if (this.#run.is_unwinding === 0) execution.log.write(() => withdrawTasks(this.#context, run_id, reason))
      await execution.steps(signal).catch((error: unknown) => {
        if (!(error instanceof NotReached || error instanceof ActivityFailure)) throw error
      })
      const {hasCompensations} = execution
      if (hasCompensations || execution.hasHandedOn) {
        execution.log.write(() =>
          this.#context.store.run('UPDATE workflow_run_log SET is_unwinding = 1, last_error = ? WHERE run_id = ?', [
            reason,
            run_id,
          ]),
        )
      }
      const isWithdrawn = await execution.withdraw(reason, signal)
      const failures = await execution.compensate(signal)
      const error = [reason, ...failures.map((failure) => `Compensation failed: ${failure}`)].join(' ')
      execution.log.writeEnd(() => {
        // Nothing was undone: a failed run can be resumed. After an interruption, an earlier process may have undone something.
        if (!hasCompensations && !isWithdrawn && this.#run.is_unwinding === 0)
          this.#context.store.run('UPDATE workflow_run_log SET is_unwinding = 0 WHERE run_id = ?', [run_id])
        this.#release({status: end, error: end === 'failed' || failures.length > 0 ? error : undefined})
        if (end === 'failed') {
          this.#journal.append({event: 'WorkflowFailed', error})
          this.#journal.emit({type: 'workflow_failed', run_id, workflow, error})
        } else {
          this.#journal.append({event: 'WorkflowCancelled', ...(failures.length > 0 ? {error} : {})})
          this.#journal.emit({type: 'workflow_cancelled', run_id, workflow})
        }
      })
    } catch (error) {
      if (error instanceof Suspension) return this.#leave()
      if (!isErrorOf(error, 'workflow_lease_lost')) this.#interrupt()
      throw signal.aborted ? signal.reason : error
    }
  }

  /** All activities wait: the run leaves the process, unless it stays or continues within a moment. */
  #onIdle(): void {
    const {stays, onWaiting} = this.#options
    const {wakeAtMs} = this.#waits
    if (wakeAtMs !== undefined && wakeAtMs - this.#context.now() <= shortWaitMs) return
    onWaiting?.(this.#waits.waitingFor)
    if (!stays && !this.#waits.isReady) this.#left = this.#waits.suspend()
  }

  /** Lets the run wait in no process. A signal that has arrived in the meantime wakes it at once. */
  #leave(): void {
    const left = this.#left ?? []
    const times = left.flatMap(({wakeAtMs}) => wakeAtMs ?? [])
    this.#journal.write(() => {
      const isReady = this.#isCancelled() || left.some((condition) => condition.isReady())
      this.#release({
        status: 'waiting',
        wakeAtMs: isReady ? this.#context.now() : times.length === 0 ? null : Math.min(...times),
      })
      this.#journal.append({event: 'WorkflowWaiting', reason: left.map(({name}) => name).join(', ')})
    })
  }

  /** The run is left as it is, for another process. */
  #interrupt(): void {
    this.#journal.write(() => this.#release({status: 'running', wakeAtMs: this.#context.now()}))
  }

  #release(release: Release): void {
    releaseLease(this.#context, {runId: this.#run.run_id, owner: this.#owner}, release)
    const {status, error} = release
    if (status !== 'running' && status !== 'waiting')
      withdrawTasks(this.#context, this.#run.run_id, `the run is ${status}`)
    const {plan_session_id: planSessionId, plan_node_id: nodeId, plan_version: version} = this.#run
    if (planSessionId === null || nodeId === null || status === 'running' || status === 'waiting') return
    notify(this.#context, 'workflowEnded', {planSessionId, nodeId, version: version ?? 1, status, error})
  }
}
