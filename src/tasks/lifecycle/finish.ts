import {SvcError} from '../../errors/index.js'
import {observeOutcome} from '../agents/standing.js'
import {notify, type TaskContext} from '../base/context.js'
import {displayTask} from '../base/ids.js'
import {given} from '../base/members.js'
import type {Task, TaskResult} from '../base/task.js'
import {appendEvent} from '../events/event-log.js'
import {appendLineage} from '../events/lineage.js'
import {releaseLocks} from '../locks.js'
import {cancelRow, failDependants, giveUpFiles} from './cancel.js'
import {releaseDependants} from './dependencies.js'
import {moveTask, type TaskChanges} from './status.js'
import {labelOf, requireRow, requireStatus, requireTask, type TaskRequest, type TaskRow, toTask} from './task-rows.js'

/** Who says that a task is over. */
export interface Finisher {
  /** The claim under which the work was done. */
  generation?: number | undefined
  /** Takes the task over from whoever holds it under another claim. */
  force?: boolean | undefined
  /** What it fails with does not heal by itself: it is not tried again. */
  isFinal?: boolean
}

/** What came of a request to complete a task. */
export interface Completion {
  ok: true
  outcome: 'completed'
  task: Task
}

/**
 * Completes a task that is in progress: its locks are released, its files stay its agent's, what waited for it is
 * queued.
 * @throws task_not_found, invalid_transition, claim_required, claim_lost
 */
export function completeTask(
  context: TaskContext,
  id: number,
  result: TaskResult | undefined,
  finisher: Finisher = {},
): Completion {
  return context.store.transaction(() => {
    const row = requireClaim(context, requireRow(context, id), finisher)
    requireStatus(row, ['InProgress'], 'Completed')
    completeRow(context, row, result)
    return {ok: true, outcome: 'completed', task: requireTask(context, id)}
  })
}

/** The end of a task that went well, however it came to it. */
export function completeRow(
  context: TaskContext,
  row: TaskRow,
  result: TaskResult | undefined,
  auditReport?: string,
): void {
  moveTask(context, row, 'Completed', {
    ...given({result: result === undefined ? undefined : JSON.stringify(result), audit_report: auditReport}),
  })
  releaseLocks(context, row.id)
  observeOutcome(context, row, true)
  const {id, agent_id} = row
  appendEvent(context, {type: 'task_completed', task_id: id, agent_id, ...given({audit_report: auditReport})})
  appendLineage(context, 'task_completed', toTask(row))
  releaseDependants(context, id)
  notify(context, 'taskEnded', {taskId: id})
}

/**
 * Fails a task that is in progress: its locks and files are given up, what waits for it fails too. One that asked for
 * retries is queued again instead, while it has some left and nobody takes it over to fail it.
 * @throws task_not_found, invalid_transition, claim_required, claim_lost
 */
export function failTask(context: TaskContext, id: number, reason: string, finisher: Finisher = {}): Task {
  return context.store.transaction(() => {
    const row = requireClaim(context, requireRow(context, id), finisher)
    requireStatus(row, ['InProgress'], 'Failed')
    if (finisher.force || finisher.isFinal) failRow(context, row, reason)
    else failOrRetry(context, row, reason)
    return requireTask(context, id)
  })
}

/** The work of a run failed: it is tried again as often as its submission asked for. */
export function failOrRetry(context: TaskContext, row: TaskRow, reason: string): void {
  if (!requeuedAfterFault(context, row, reason, retriesOf(row) ?? 0)) failRow(context, row, reason)
}

/** How often a submission asks for a task to be run again after a failure. */
const retriesOf = ({request}: TaskRow): number | undefined => (JSON.parse(request) as TaskRequest).retries

/** Whether a task is queued again, after a pause: it is while it had fewer faults than the limit. */
function requeuedAfterFault(context: TaskContext, row: TaskRow, reason: string, limit: number): boolean {
  const {fault_count: faults} = row
  if (faults >= limit) return false
  requeueRow(context, row, reason, {fault_count: faults + 1, not_before_ms: context.now() + retryPauseMs(faults)})
  return true
}

/** @param isItsFault whether the failure counts against the agent */
export function failRow(context: TaskContext, row: TaskRow, reason: string, isItsFault = true): void {
  moveTask(context, row, 'Failed', {status_reason: reason})
  giveUpFiles(context, row)
  if (isItsFault) observeOutcome(context, row, false)
  appendEvent(context, {type: 'task_failed', task_id: row.id, agent_id: row.agent_id, error: reason})
  appendLineage(context, 'task_failed', toTask(row), {reason})
  failDependants(context, row.id)
  notify(context, 'taskEnded', {taskId: row.id, failure: reason})
}

/**
 * Cancels a task; what waits for it fails. Whoever runs it finds out by its claim, which no longer counts: the daemon
 * aborts the run, a client's result is refused.
 * @throws task_not_found, invalid_transition
 */
export function cancelTask(context: TaskContext, id: number, reason?: string): Task {
  return context.store.transaction(() => {
    cancelRow(context, requireRow(context, id), reason)
    notify(context, 'taskEnded', {taskId: id})
    return requireTask(context, id)
  })
}

const longestPauseMs = 60_000

/** How long a task waits after so many faults before, ms: a second, doubled by each of them, a minute at most. */
export const retryPauseMs = (faults: number): number => Math.min(1000 * 2 ** faults, longestPauseMs)

/**
 * The infrastructure failed a task, through no fault of its own: it is queued again after a pause while its own retries
 * or else `max_task_retries` allow, else it fails.
 * @throws task_not_found, invalid_transition, claim_lost
 */
export function giveBackTask(context: TaskContext, id: number, reason: string, finisher: Finisher): Task {
  return context.store.transaction(() => {
    const row = requireClaim(context, requireRow(context, id), finisher)
    const limit = retriesOf(row) ?? context.config.maxTaskRetries
    if (!requeuedAfterFault(context, row, reason, limit)) failRow(context, row, reason, false)
    return requireTask(context, id)
  })
}

/** Puts a task that was being run back to the front of its queue. */
export function requeueRow(
  context: TaskContext,
  row: TaskRow,
  reason: string,
  pause: Pick<TaskChanges, 'fault_count' | 'not_before_ms'> = {},
): void {
  moveTask(context, row, 'Queued', {
    retry_count: row.retry_count + 1,
    status_reason: reason,
    not_before_ms: null,
    ...pause,
    // Whoever still works on it is late from now on.
    claim_generation: row.claim_generation + 1,
  })
  const due = pause.not_before_ms == null ? {} : {not_before_ms: pause.not_before_ms}
  appendEvent(context, {type: 'task_requeued', task_id: row.id, agent_id: row.agent_id, reason, ...due})
}

/**
 * Only whoever holds a task may end it, or somebody who takes it over: then the claim of the former holder is over.
 * @throws claim_required, claim_lost
 */
function requireClaim(context: TaskContext, row: TaskRow, {generation, force}: Finisher): TaskRow {
  const {id, agent_id, claim_generation: current, claim_owner: owner} = row
  const isHeld = row.status === 'InProgress' && owner !== null
  if (isHeld ? generation === current : generation === undefined) return row
  if (isHeld && force) {
    context.store.run('UPDATE orch_tasks SET claim_generation = claim_generation + 1 WHERE id = ?', [id])
    appendEvent(context, {type: 'task_claim_overridden', task_id: id, agent_id, owner, generation: current})
    return requireRow(context, id)
  }
  const task = displayTask(id)
  if (generation === undefined) throw new SvcError('claim_required', {task, owner: owner ?? ''})
  throw new SvcError('claim_lost', {task, generation, current, status: labelOf(row)})
}
