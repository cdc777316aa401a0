import {notify, type TaskStatus, type WorkspaceContext} from '../../workspace/index.js'
import {ensureResolutionAgent} from '../agents/spawn.js'
import {questionOfReason} from '../base/ids.js'
import type {Task} from '../base/task.js'
import {awardForResolutions} from '../events/awards.js'
import {appendEvent} from '../events/event-log.js'
import {releaseLocks} from '../locks.js'
import {failDependants, failWaiting} from './cancel.js'
import {lastOpen, lostDependency, releaseDependants} from './dependencies.js'
import {completeRow} from './finish.js'
import {formerAgent, returnToAgent} from './return-to-agent.js'
import {moveTask} from './status.js'
import {requireRow, requireStatus, requireTask, type TaskRow} from './task-rows.js'

/**
 * Pauses a task because of a doubt. It moves to the resolution agent from any state, even a final one, and stays there
 * until a person resolves the doubt. A run in progress is aborted. Dependants that have already been queued continue.
 * @throws task_not_found
 */
export function doubtTask(context: WorkspaceContext, id: number, reason?: string): Task {
  return context.store.transaction(() => {
    const row = requireRow(context, id)
    if (row.status === 'Doubted') return requireTask(context, id)
    const resolver = ensureResolutionAgent(context)
    moveTask(context, row, 'Doubted', {
      status_reason: reason ?? null,
      agent_id: resolver.id,
      doubted_agent_id: row.agent_id,
      doubted_status: row.status,
      doubted_role: row.execution_role,
      doubted_reason: row.status_reason,
      execution_role: 'verifier',
      claim_generation: row.claim_generation + 1,
    })
    releaseLocks(context, id)
    appendEvent(context, {
      type: 'task_doubted',
      task_id: id,
      agent_id: row.agent_id,
      ...(reason === undefined ? {} : {reason}),
    })
    return requireTask(context, id)
  })
}

export interface Resolution {
  /** The work was correct. */
  validated: boolean
  /** The finding, for the agent and for the record. */
  report: string
  /** Runs a validated task again instead of completing it as it is. */
  resume?: boolean
}

const ends: ReadonlySet<TaskStatus | null> = new Set<TaskStatus>(['Completed', 'Failed', 'Cancelled'])

/**
 * Resolves a doubt. If the doubt was justified, the report becomes a constraint of the task, which is queued again. If
 * it was not, the task returns to its earlier state, is queued again if it was running, or is completed. Awards are
 * granted from the report.
 * @throws task_not_found, invalid_transition, plan_step_replaced
 */
export function resolveDoubt(context: WorkspaceContext, id: number, resolution: Resolution): Task {
  const {validated, report, resume = true} = resolution
  return context.store.transaction(() => {
    const doubted = requireDoubted(context, id)
    const {doubted_status: former} = doubted
    if (validated && (resume ? ends.has(former) : former === 'Completed')) restoreEnd(context, doubted, report)
    else if (validated && !resume)
      completeRow(context, returnToAgent(context, doubted), undefined, {auditReport: report})
    else {
      const description = validated ? doubted.description : withReport(doubted.description, report)
      resumeTask(context, returnToAgent(context, doubted), doubted, {description, report})
    }
    // The agent that doubted gets the award, wherever the task is now.
    appendEvent(context, {type: 'task_resolved', task_id: id, agent_id: formerAgent(doubted), validated, report})
    awardForResolutions(context)
    return requireTask(context, id)
  })
}

/**
 * Accepts a doubted task as completed.
 * @throws task_not_found, invalid_transition
 */
export function overruleDoubt(context: WorkspaceContext, id: number, reason = ''): Task {
  return context.store.transaction(() => {
    const doubted = requireDoubted(context, id)
    const report = `OVERRULED: ${reason}`.trim()
    if (doubted.doubted_status === 'Completed') restoreEnd(context, doubted, report)
    else completeRow(context, returnToAgent(context, doubted), undefined, {auditReport: report})
    return requireTask(context, id)
  })
}

/** @throws task_not_found, invalid_transition */
function requireDoubted(context: WorkspaceContext, id: number): TaskRow {
  const row = requireRow(context, id)
  requireStatus(row, ['Doubted'], 'Queued')
  return row
}

/** Restores the final state of a task. Dependants submitted in the meantime are queued or fail. */
function restoreEnd(context: WorkspaceContext, doubted: TaskRow, report: string): void {
  const row = returnToAgent(context, doubted, formerAgent(doubted))
  const {doubted_status: end, doubted_reason: reason, finished_at_ms: finishedAt} = doubted
  const changes = {status_reason: reason, finished_at_ms: finishedAt, audit_report: report}
  moveTask(context, row, end as TaskStatus, changes, true)
  if (end === 'Completed') releaseDependants(context, row.id)
  else failDependants(context, row.id)
  notify(context, 'taskEnded', {taskId: row.id})
}

/** A resolved doubt does not replace other preconditions of the task: approval, an answer or its dependencies. */
function resumeTask(
  context: WorkspaceContext,
  row: TaskRow,
  {doubted_status: former, doubted_reason: reason}: TaskRow,
  {description, report}: {description: string; report: string},
): void {
  if (ends.has(former)) notify(context, 'taskReopening', {taskId: row.id})
  const awaitsConsent = former === 'BlockedOnApproval'
  const next = awaitsConsent ? 'BlockedOnApproval' : row.unmet_dependencies > 0 ? 'Blocked' : 'Queued'
  moveTask(context, row, next, {
    audit_report: report,
    status_reason: awaitsConsent && questionOfReason(reason) !== undefined ? reason : null,
    result: null,
    description,
    blocked_on: next === 'Blocked' ? lastOpen(context, row.id) : null,
  })
  const lost = lostDependency(context, row.id)
  if (lost === undefined) return
  failWaiting(context, requireRow(context, row.id), lost)
  failDependants(context, row.id)
}

const withReport = (description: string, report: string) => `${description}\n\n[RESOLUTION]\n${report}`
