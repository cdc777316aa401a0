import {userInfo} from 'node:os'
import type {ManifestEntry} from '../../contracts/index.js'
import {SvcError} from '../../errors/index.js'
import {notify, type Priority, priorities, type WorkspaceContext} from '../../workspace/index.js'
import {recordVerdict} from '../attention/review.js'
import {displayTask, questionOfReason} from '../base/ids.js'
import type {Task} from '../base/task.js'
import {appendEvent} from '../events/event-log.js'
import {isDue, reserveWrites} from '../locks.js'
import {attentionSubject} from './attention-subject.js'
import {lastOpen, lostDependency, reopenDependencies} from './dependencies.js'
import {homeAgent} from './home-agent.js'
import {moveTask} from './status.js'
import {requireRow, requireStatus, requireTask, type TaskRow} from './task-rows.js'

/**
 * Retries a failed or cancelled task at its former place in the queue. If some of its dependencies are not completed, it waits for
 * them; a task that was not approved before waits for the approval that it needs.
 * @param dependants also retry the tasks that failed because of it, directly or indirectly, except those with another
 *   failed dependency
 * @throws task_not_found, invalid_transition, plan_step_replaced, dependency_failed, lock_conflict
 */
export function retryTask(context: WorkspaceContext, id: number, {dependants = false} = {}): Task[] {
  return context.store.transaction(() => {
    retryRow(context, requireRow(context, id))
    const retried = new Set([id])
    const found = new Set(dependants ? failedDependants(context, id) : [])
    // Dependencies have smaller ids than their dependants, so they have already been retried.
    for (let next = least(found); next !== undefined; next = least(found)) {
      found.delete(next)
      if (!mayRetry(context, next)) continue
      retryRow(context, requireRow(context, next))
      retried.add(next)
      for (const further of failedDependants(context, next)) found.add(further)
    }
    return [...retried].map((each) => requireTask(context, each))
  })
}

const least = (ids: ReadonlySet<number>): number | undefined => (ids.size === 0 ? undefined : Math.min(...ids))

/** @throws invalid_transition, plan_step_replaced, dependency_failed, lock_conflict */
function retryRow(context: WorkspaceContext, row: TaskRow): void {
  requireStatus(row, ['Failed', 'Cancelled'], 'Queued')
  notify(context, 'taskReopening', {taskId: row.id})
  const open = reopenDependencies(context, row.id)
  const agentId = homeAgent(context, row, row.agent_id)
  const awaitsConsent = lacksConsent(context, row)
  const isReady = open.length === 0 && !awaitsConsent
  moveTask(context, row, awaitsConsent ? 'BlockedOnApproval' : isReady ? 'Queued' : 'Blocked', {
    agent_id: agentId,
    retry_count: row.retry_count + 1,
    fault_count: 0,
    // The limits of hand-overs and refusals apply to the new attempt.
    handoff_count: 0,
    debug_iterations: 0,
    toestub_iterations: 0,
    socrates_iterations: 0,
    status_reason:
      awaitsConsent && row.approval_tier !== null
        ? personRequired(`${row.status.toLowerCase()}_before_approval`)
        : null,
    not_before_ms: null,
    // A new attempt may be delegated again.
    delegation: row.delegation === null ? null : 'open',
    unmet_dependencies: open.length,
    blocked_on: open.at(-1) ?? null,
  })
  if (isReady) lockAgain(context, {...row, agent_id: agentId})
  appendEvent(context, {type: 'task_requeued', task_id: row.id, agent_id: agentId, reason: 'retry'})
}

/** True for a task that needs an approval before it starts, has none, and was never started. */
function lacksConsent({store}: WorkspaceContext, {id, started_at_ms, approval_tier: tier, request}: TaskRow): boolean {
  const {requires_approval} = JSON.parse(request) as {requires_approval?: boolean}
  if (started_at_ms !== null || !(requires_approval === true || (tier !== null && tier !== 'auto_approve')))
    return false
  return store.get("SELECT 1 FROM orch_events WHERE task_id = ? AND type = 'task_approved'", [id]) === undefined
}

/** Tasks that failed because a dependency failed. */
const failedDependants = ({store}: WorkspaceContext, id: number): number[] =>
  store
    .all<{id: number}>(
      `SELECT t.id FROM orch_dependencies d JOIN orch_tasks t ON t.id = d.task_id
WHERE d.depends_on = ? AND t.status = 'Failed' AND t.status_reason LIKE 'dependency_failed:%'`,
      [id],
    )
    .map((row) => row.id)

/** True if all dependencies can still complete. */
const mayRetry = (context: WorkspaceContext, id: number): boolean => lostDependency(context, id) === undefined

/** @throws lock_conflict */
function lockAgain(context: WorkspaceContext, row: TaskRow): void {
  if (isDue(context, row.start_after_ms)) reserveWrites(context, row, JSON.parse(row.file_manifest) as ManifestEntry[])
}

/**
 * Changes the priority of a waiting task, and with it its place in the queue. Running tasks are never moved.
 * @throws task_not_found, invalid_transition
 */
export function reorderTask(context: WorkspaceContext, id: number, priority: Priority): Task {
  return context.store.transaction(() => {
    const row = requireRow(context, id)
    requireStatus(row, ['Queued', 'Blocked', 'BlockedOnApproval'], 'Queued')
    context.store.run('UPDATE orch_tasks SET priority = ?, updated_at_ms = ? WHERE id = ?', [
      priorities.indexOf(priority),
      context.now(),
      id,
    ])
    appendEvent(context, {type: 'task_reordered', task_id: id, agent_id: row.agent_id, priority})
    return requireTask(context, id)
  })
}

/** True if a task was worked on and requires a review; if the gates refused its result, it is queued again. */
const isReviewable = ({status, approval_tier: tier, claim_generation: claims}: TaskRow): boolean =>
  tier !== null && (status === 'InProgress' || (status === 'Queued' && claims > 0))

/**
 * Approves a task that waits for approval. For a task that was worked on and requires a review, this records the review.
 * @param by name of the person; undefined if no person has approved
 * @throws task_not_found, invalid_transition, question_pending, lock_conflict, approval_blocked; usage if the name is blank
 */
export function approveTask(context: WorkspaceContext, id: number, by?: string): Task {
  return context.store.transaction(() => {
    const row = requireRow(context, id)
    if (by?.trim() === '') throw new SvcError('usage', {reason: 'The name of the person who approves is blank.'})
    if (by === undefined && row.status === 'BlockedOnApproval' && row.status_reason?.startsWith(personPrefix))
      throw new SvcError('approval_blocked', {task: displayTask(id)})
    // An approval by a model costs no attention.
    if (by !== undefined) recordVerdict(context, attentionSubject(row), 'approved')
    if (!isReviewable(row)) release(context, row)
    appendEvent(context, {
      type: 'task_approved',
      task_id: id,
      agent_id: row.agent_id,
      ...(by === undefined ? {} : {by}),
    })
    return requireTask(context, id)
  })
}

/** Queues a task that waits for approval. @throws invalid_transition, question_pending, lock_conflict */
function release(context: WorkspaceContext, row: TaskRow): void {
  requireStatus(row, ['BlockedOnApproval'], 'Queued')
  const question = questionOfReason(row.status_reason)
  if (question !== undefined) throw new SvcError('question_pending', {subject: displayTask(row.id), question})
  const isReady = row.unmet_dependencies === 0
  moveTask(context, row, isReady ? 'Queued' : 'Blocked', {
    blocked_on: lastOpen(context, row.id),
    status_reason: null,
  })
  if (isReady) lockAgain(context, row)
}

const personPrefix = 'person_required: '

/** The status reason of a task that only a person can approve. */
export const personRequired = (reason: string): string => `${personPrefix}${reason}`

/** Name of the user of this machine who runs the process. */
export const localUser = (): string => userInfo().username
