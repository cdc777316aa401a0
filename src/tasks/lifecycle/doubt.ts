import {ensureResolutionAgent} from '../agents/spawn.js'
import {notify, type TaskContext} from '../base/context.js'
import type {Task} from '../base/task.js'
import type {TaskStatus} from '../base/vocabulary.js'
import {awardForResolutions} from '../events/awards.js'
import {appendEvent} from '../events/event-log.js'
import {releaseLocks} from '../locks.js'
import {failDependants, failWaiting} from './cancel.js'
import {lastOpen, lostDependency, releaseDependants} from './dependencies.js'
import {completeRow} from './finish.js'
import {homeAgent} from './home-agent.js'
import {moveTask} from './status.js'
import {requireRow, requireStatus, requireTask, type TaskRow} from './task-rows.js'

/**
 * An agent met something that it cannot settle: the task goes to the resolution agent, in whatever state it was, also
 * where it was over, and stays there until a person has answered. A run of it is aborted. What waited for it and has been
 * queued goes on.
 * @throws task_not_found
 */
export function doubtTask(context: TaskContext, id: number, reason?: string): Task {
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
  /** The work was sound as it stood. */
  validated: boolean
  /** What was found out, for the agent and for the record. */
  report: string
  /** A validated task is run after all, instead of being completed as it is. */
  resume?: boolean
}

const ends: ReadonlySet<TaskStatus | null> = new Set<TaskStatus>(['Completed', 'Failed', 'Cancelled'])

/**
 * Settles a doubt. A justified one makes its report a constraint of the task, which is queued again; after an unjustified
 * one the task stands as it did before, one that was run is queued again, or it is completed. The report is handed to
 * the receiver of awards.
 * @throws task_not_found, invalid_transition, plan_step_replaced
 */
export function resolveDoubt(context: TaskContext, id: number, resolution: Resolution): Task {
  const {validated, report, resume = true} = resolution
  return context.store.transaction(() => {
    const doubted = requireDoubted(context, id)
    const {doubted_status: former} = doubted
    if (validated && (resume ? ends.has(former) : former === 'Completed')) restoreEnd(context, doubted, report)
    else if (validated && !resume) completeRow(context, giveBack(context, doubted), undefined, report)
    else {
      const description = validated ? doubted.description : withReport(doubted.description, report)
      resumeTask(context, giveBack(context, doubted), former, {description, report})
    }
    // The agent that doubted is meant, wherever the task is now.
    appendEvent(context, {type: 'task_resolved', task_id: id, agent_id: formerAgent(doubted), validated, report})
    awardForResolutions(context)
    return requireTask(context, id)
  })
}

/**
 * A person takes the task as done, whatever the doubt.
 * @throws task_not_found, invalid_transition
 */
export function overruleDoubt(context: TaskContext, id: number, reason = ''): Task {
  return context.store.transaction(() => {
    const doubted = requireDoubted(context, id)
    const report = `OVERRULED: ${reason}`.trim()
    if (doubted.doubted_status === 'Completed') restoreEnd(context, doubted, report)
    else completeRow(context, giveBack(context, doubted), undefined, report)
    return requireTask(context, id)
  })
}

/** @throws task_not_found, invalid_transition */
function requireDoubted(context: TaskContext, id: number): TaskRow {
  const row = requireRow(context, id)
  requireStatus(row, ['Doubted'], 'Queued')
  return row
}

/** Gives a doubted task back to the agent that had it, or to another one where that has retired, in its former role. */
function giveBack(context: TaskContext, row: TaskRow, agentId = homeAgent(context, row, formerAgent(row))): TaskRow {
  moveTask(context, row, 'Doubted', {
    agent_id: agentId,
    execution_role: row.doubted_role,
    doubted_agent_id: null,
    doubted_status: null,
    doubted_role: null,
    doubted_reason: null,
  })
  return requireRow(context, row.id)
}

const formerAgent = ({doubted_agent_id: former, agent_id: id}: TaskRow): number => former ?? id

/** The task is over as it was. What was submitted since, and waits for it, goes on or fails. */
function restoreEnd(context: TaskContext, doubted: TaskRow, report: string): void {
  const row = giveBack(context, doubted, formerAgent(doubted))
  const {doubted_status: end, doubted_reason: reason, finished_at_ms: finishedAt} = doubted
  const changes = {status_reason: reason, finished_at_ms: finishedAt, audit_report: report}
  moveTask(context, row, end as TaskStatus, changes, true)
  if (end === 'Completed') releaseDependants(context, row.id)
  else failDependants(context, row.id)
  notify(context, 'taskEnded', {taskId: row.id})
}

/** The doubt does not stand for anything else that the task waited for: a person's consent, or its dependencies. */
function resumeTask(
  context: TaskContext,
  row: TaskRow,
  former: TaskStatus | null,
  {description, report}: {description: string; report: string},
): void {
  if (ends.has(former)) notify(context, 'taskReopening', {taskId: row.id})
  const awaitsConsent = former === 'BlockedOnApproval'
  const next = awaitsConsent ? 'BlockedOnApproval' : row.unmet_dependencies > 0 ? 'Blocked' : 'Queued'
  moveTask(context, row, next, {
    audit_report: report,
    status_reason: null,
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
