import {withoutUndefined} from '../../contracts/index.js'
import {SvcError} from '../../errors/index.js'
import {notify, type WorkspaceContext} from '../../workspace/index.js'
import {clearUnfinishedCost} from '../agents/budget.js'
import {observeOutcome} from '../agents/standing.js'
import {displayTask} from '../base/ids.js'
import type {Task, TaskResult} from '../base/task.js'
import {appendEvent} from '../events/event-log.js'
import {appendLineage} from '../events/lineage.js'
import {releaseLocks} from '../locks.js'
import {type CancelOptions, cancelRow, failDependants, giveUpFiles} from './cancel.js'
import {releaseDependants} from './dependencies.js'
import {moveTask, type TaskChanges} from './status.js'
import {labelOf, requireRow, requireStatus, requireTask, type TaskRequest, type TaskRow, toTask} from './task-rows.js'

/** The caller that ends a task. */
export interface Finisher {
  /** Generation of the claim under which the work was done. */
  generation?: number | undefined
  /** Ends the task even if another client holds the claim. */
  force?: boolean | undefined
  /** The failure is permanent: the task is not retried. */
  isFinal?: boolean
}

/** Completes a task from any state that allows it. */
export function completeRow(
  context: WorkspaceContext,
  row: TaskRow,
  result: TaskResult | undefined,
  {auditReport, receipt}: {auditReport?: string; receipt?: string} = {},
): void {
  moveTask(context, row, 'Completed', {
    ...withoutUndefined({
      result: result === undefined ? undefined : JSON.stringify(result),
      audit_report: auditReport,
      receipt,
    }),
  })
  releaseLocks(context, row.id)
  observeOutcome(context, row, true, result ?? resultOf(row))
  clearUnfinishedCost(context, row.agent_id)
  const {id, agent_id} = row
  appendEvent(context, {
    type: 'task_completed',
    task_id: id,
    agent_id,
    ...withoutUndefined({audit_report: auditReport}),
  })
  appendLineage(context, 'task_completed', toTask(row))
  releaseDependants(context, id)
  notify(context, 'taskEnded', {taskId: id})
}

/** The result of an earlier run, which a person has accepted. */
const resultOf = ({result}: TaskRow): TaskResult | undefined =>
  result === null ? undefined : (JSON.parse(result) as TaskResult)

/**
 * Fails a task in progress: its locks and file affinities are released, and its dependants fail. A task with retries
 * left is queued again instead, unless the failure is forced or final.
 * @throws task_not_found, invalid_transition, claim_required, claim_lost
 */
export function failTask(context: WorkspaceContext, id: number, reason: string, finisher: Finisher = {}): Task {
  return context.store.transaction(() => {
    const seen = requireRow(context, id)
    if (earlierReply(seen, finisher, 'fail') !== undefined) return requireTask(context, id)
    const row = takeOver(context, seen, finisher)
    requireStatus(row, ['InProgress'], 'Failed')
    if (finisher.force || finisher.isFinal) failRow(context, row, reason)
    else failOrRetry(context, row, reason)
    rememberReply(context, seen, finisher, 'fail', {})
    return requireTask(context, id)
  })
}

/** How the holder of a claim ended it. */
type End = 'complete' | 'fail'

/**
 * The reply to an earlier request of the same kind under the same claim. A client whose connection broke repeats its
 * request, because it cannot know whether the request or the reply was lost; it then receives the same reply.
 */
export function earlierReply(row: TaskRow, {generation}: Finisher, end: End): object | undefined {
  if (generation === undefined || row.ended_generation !== generation || row.ended_reply === null) return undefined
  const earlier = JSON.parse(row.ended_reply) as {end: End; reply: object}
  return earlier.end === end ? earlier.reply : undefined
}

/** @param row the task before the end of the claim; someone else who ended it by force has no claim to repeat */
export function rememberReply(
  {store}: WorkspaceContext,
  {id, claim_generation: current}: TaskRow,
  {generation}: Finisher,
  end: End,
  reply: object,
): void {
  if (generation !== current) return
  const json = JSON.stringify({end, reply})
  store.run('UPDATE orch_tasks SET ended_generation = ?, ended_reply = ? WHERE id = ?', [current, json, id])
}

/** Fails a task, or queues it again if its submission asked for retries and some are left. */
export function failOrRetry(context: WorkspaceContext, row: TaskRow, reason: string): void {
  if (!requeuedAfterFault(context, row, reason, retriesOf(row) ?? 0)) failRow(context, row, reason)
}

/** The number of retries that the submission asked for. */
const retriesOf = ({request}: TaskRow): number | undefined => (JSON.parse(request) as TaskRequest).retries

/** Queues a task again after a pause if it has had fewer faults than the limit. Returns true if it did. */
function requeuedAfterFault(context: WorkspaceContext, row: TaskRow, reason: string, limit: number): boolean {
  const {fault_count: faults} = row
  if (faults >= limit) return false
  requeueRow(context, row, reason, {fault_count: faults + 1, not_before_ms: context.now() + retryPauseMs(faults)})
  return true
}

/** @param isItsFault the failure counts against the agent */
export function failRow(context: WorkspaceContext, row: TaskRow, reason: string, isItsFault = true): void {
  moveTask(context, row, 'Failed', {status_reason: reason})
  giveUpFiles(context, row)
  if (isItsFault) observeOutcome(context, row, false)
  appendEvent(context, {type: 'task_failed', task_id: row.id, agent_id: row.agent_id, error: reason})
  appendLineage(context, 'task_failed', toTask(row), {reason})
  failDependants(context, row.id)
  notify(context, 'taskEnded', {taskId: row.id, failure: reason})
}

/**
 * Cancels a task, by default for a person; its dependants fail. The claim of a running task becomes invalid: the daemon aborts the run, and a
 * client's result is rejected.
 * @throws task_not_found, invalid_transition
 */
export function cancelTask(context: WorkspaceContext, id: number, {reason, by = 'person'}: CancelOptions = {}): Task {
  return context.store.transaction(() => {
    cancelRow(context, requireRow(context, id), {reason, by})
    notify(context, 'taskEnded', {taskId: id})
    return requireTask(context, id)
  })
}

const maxPauseMs = 60_000

/** Pause before the next run, ms: one second, doubled with each earlier fault, up to the maximum. */
export const retryPauseMs = (faults: number): number => Math.min(1000 * 2 ** faults, maxPauseMs)

/**
 * Ends a run that failed because of the infrastructure. The task is queued again after a pause while its own retries,
 * or else `max_task_retries`, allow it; otherwise it fails.
 * @throws task_not_found, invalid_transition, claim_lost
 */
export function releaseTask(context: WorkspaceContext, id: number, reason: string, finisher: Finisher): Task {
  return context.store.transaction(() => {
    const row = takeOver(context, requireRow(context, id), finisher)
    const limit = retriesOf(row) ?? context.config.maxTaskRetries
    if (!requeuedAfterFault(context, row, reason, limit)) failRow(context, row, reason, false)
    return requireTask(context, id)
  })
}

/** Returns a running task to the front of its queue. */
export function requeueRow(context: WorkspaceContext, row: TaskRow, reason: string, changes: TaskChanges = {}): void {
  moveTask(context, row, 'Queued', {
    retry_count: row.retry_count + 1,
    status_reason: reason,
    not_before_ms: null,
    ...changes,
    // Invalidates the claim of a process that still works on the task.
    claim_generation: row.claim_generation + 1,
  })
  const due = changes.not_before_ms == null ? {} : {not_before_ms: changes.not_before_ms}
  appendEvent(context, {type: 'task_requeued', task_id: row.id, agent_id: row.agent_id, reason, ...due})
}

/**
 * Checks that the caller holds the claim on a task, or may override it.
 * @throws claim_required, claim_lost
 */
export function requireClaim(row: TaskRow, {generation, force}: Finisher): void {
  const {id, claim_generation: current, claim_owner: owner} = row
  const held = isHeld(row)
  if (held ? generation === current || force : generation === undefined) return
  const task = displayTask(id)
  if (generation === undefined) throw new SvcError('claim_required', {task, owner: owner ?? ''})
  throw new SvcError('claim_lost', {task, generation, current, status: labelOf(row)})
}

const isHeld = ({status, claim_owner: owner}: TaskRow): boolean => status === 'InProgress' && owner !== null

/**
 * Checks the claim, and revokes that of another holder if the caller forces the end.
 * @throws claim_required, claim_lost
 */
export function takeOver(context: WorkspaceContext, row: TaskRow, finisher: Finisher): TaskRow {
  requireClaim(row, finisher)
  const {id, agent_id, claim_generation: current, claim_owner: owner} = row
  if (!isHeld(row) || finisher.generation === current) return row
  context.store.run('UPDATE orch_tasks SET claim_generation = claim_generation + 1 WHERE id = ?', [id])
  appendEvent(context, {type: 'task_claim_overridden', task_id: id, agent_id, owner: owner ?? '', generation: current})
  return requireRow(context, id)
}
