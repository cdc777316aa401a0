import {SvcError} from '../../errors/index.js'
import type {WorkspaceContext} from '../../workspace/index.js'
import {checkVersion} from '../activities/executors.js'
import type {Step} from '../definition/definition.js'
import {
  type ActivityKey,
  type LastAttempt,
  lastAttempts,
  lastSeq,
  type Recorded,
  recordCompleted,
  recordedResults,
} from '../store/activities.js'
import type {Journal, JournalEvent, StepEvent} from '../store/journal.js'
import {renewLease, requireLease} from '../store/lease.js'
import type {RunRow} from '../store/runs.js'

/** A result with the entry that describes it, as kept in the tables. */
export interface Kept {
  readonly result: unknown
  readonly event: StepEvent
  /** The activity failed, and the failure was tolerated. */
  readonly failed?: true
}

export interface RunLogOptions {
  readonly journal: Journal
  /** Owner of the lease of the run. */
  readonly owner: string
  /** Called when the run shall be cancelled. */
  readonly onCancel: () => void
}

const maxResultBytes = 1 << 20
/** Minimum time between two renewals of the lease by steps, ms. */
const renewalMs = 1000

/** The recorded results of a run, and its writes, each of which checks the lease. */
export class RunLog {
  readonly journal: Journal
  readonly owner: string
  readonly #context: WorkspaceContext
  readonly #run: RunRow
  readonly #onCancel: () => void
  readonly #recorded: Map<string, Recorded>
  /** The last attempts of activities that an earlier process has started. */
  readonly #attempts: ReadonlyMap<string, LastAttempt>
  /** Entries about replayed activities, which are written with the next step. */
  #backlog: JournalEvent[] = []
  #renewedAtMs = 0
  /** Position of the latest row of an activity. */
  #seq: number

  constructor(context: WorkspaceContext, run: RunRow, {journal, owner, onCancel}: RunLogOptions) {
    this.journal = journal
    this.owner = owner
    this.#context = context
    this.#run = run
    this.#onCancel = onCancel
    this.#recorded = recordedResults(context, run.run_id)
    this.#attempts = lastAttempts(context, run.run_id)
    this.#seq = lastSeq(context, run.run_id)
  }

  /** The recorded result of an activity. */
  resultOf({activityId}: ActivityKey): Recorded | undefined {
    return this.#recorded.get(activityId)
  }

  /** The last attempt of an activity in an earlier process. */
  attemptOf({activityId}: ActivityKey): LastAttempt | undefined {
    return this.#attempts.get(activityId)
  }

  /** Takes the position of a new row of an activity. */
  nextSeq(): number {
    return ++this.#seq
  }

  /**
   * Writes within a transaction that also checks the lease.
   * @param defers its entries can be recorded with those of a later step
   * @throws workflow_lease_lost
   */
  write<T>(work: () => T, {defers = false} = {}): T {
    let isCancelled = false
    const result = this.#withBacklog(
      () => {
        isCancelled = this.#holdLease()
        return work()
      },
      {defers},
    )
    if (isCancelled) this.#onCancel()
    return result
  }

  /** Writes the end of the run, which releases the lease. @throws workflow_lease_lost */
  writeEnd(work: () => void): void {
    this.#withBacklog(() => {
      this.#holdLease()
      work()
    })
  }

  /**
   * Steps without a wait keep timers from running, so the lease is also renewed here.
   * @returns true if the run is to be cancelled
   * @throws workflow_lease_lost
   */
  #holdLease(): boolean {
    const lease = {runId: this.#run.run_id, owner: this.owner}
    const isCancelled = requireLease(this.#context, lease)
    const at = this.#context.now()
    if (Math.abs(at - this.#renewedAtMs) >= renewalMs) {
      this.#renewedAtMs = at
      renewLease(this.#context, lease)
    }
    return isCancelled
  }

  /** Runs work in a transaction, after the entries that were not written yet. */
  #withBacklog<T>(work: () => T, options?: {defers: boolean}): T {
    const {journal} = this
    const backlog = this.#backlog
    this.#backlog = []
    try {
      return journal.write(() => {
        // The results of replayed activities are in the journal already.
        for (const event of backlog)
          if (isReplayed(event)) journal.repeat(event)
          else journal.append(event)
        return work()
      }, options)
    } catch (error) {
      this.#backlog = [...backlog, ...this.#backlog]
      throw error
    }
  }

  /** The result of an activity that was completed earlier, without a repetition of what it did. */
  replay({activityId}: ActivityKey, step: Step, {result_json: json}: Recorded): unknown {
    const names = {activity: step.name, activity_id: activityId}
    // An interpretation that only collects results is not part of the run.
    const isLogged = this.#run.is_unwinding === 0
    if (json === null) {
      if (isLogged) this.#backlog.push({event: 'ActivitySkipped', ...names, reason: 'it was skipped earlier'})
      return null
    }
    const {result, event} = JSON.parse(json) as Kept
    if (step.kind === 'activity' && step.activity.kind === 'patch')
      checkVersion(step.name, result, step.activity.args({}))
    if (isLogged)
      this.#backlog.push(
        {event: 'ActivityReplayed', ...names, replay_source: 'workflow_activity_log', result_event: event.event},
        {...event, ...names, ...(event.event === 'WorkflowPatch' ? {replayed: true} : {})},
        {event: 'ActivityCompleted', ...names, replayed: true},
      )
    return result
  }

  /** Records a result, within a transaction. */
  record(key: ActivityKey, result: {name: string; json: string | null; attempt?: number | undefined}): void {
    this.#recorded.set(key.activityId, recordCompleted(this.#context, key, {seq: this.nextSeq(), ...result}))
  }

  /** Records a result with its entries. @returns what is kept @throws SvcError if the result is too large */
  complete(key: ActivityKey, step: Step, {result, event, failed}: Kept, attempt?: number): string {
    const {journal} = this
    const {runId: run_id, workflow, activityId: activity_id} = key
    const names = {activity: step.name, activity_id}
    const json = JSON.stringify({result: result ?? null, event, failed})
    if (json.length > maxResultBytes)
      throw new SvcError('workflow_activity_failed', {
        activity: step.name,
        reason: `its result is larger than ${maxResultBytes} bytes`,
      })
    this.record(key, {name: step.name, json, attempt})
    journal.append({...event, ...names})
    if (step.kind === 'activity') journal.append({event: 'ActivityCompleted', ...names, result})
    journal.emit({type: 'activity_completed', run_id, workflow, ...names})
    return json
  }
}

/** True for entries that repeat those of an earlier process. */
const isReplayed = ({event}: JournalEvent): boolean => event !== 'ActivityReplayed' && event !== 'ActivitySkipped'

/** True if an activity was not skipped and did not fail: there is something to undo, whatever its result looks like. */
export const hasSucceeded = ({result_json: json}: Recorded): boolean =>
  json !== null && !(JSON.parse(json) as Kept).failed
