import {ensureResolutionAgent} from '../agents/spawn.js'
import type {OrchestratorContext} from '../context.js'
import {awardForResolutions} from '../events/awards.js'
import {appendEvent} from '../events/event-log.js'
import {releaseLocks} from '../locks.js'
import {failDependants, failWaiting} from './cancel.js'
import {lastOpen, lostDependency} from './dependencies.js'
import {completeRow} from './finish.js'
import {homeAgent} from './home-agent.js'
import {moveTask} from './status.js'
import type {Task} from './task.js'
import {requireRow, requireStatus, requireTask, type TaskRow} from './task-rows.js'

/**
 * An agent met something that it cannot settle: the task goes to the resolution agent, in whatever state it was, and
 * stays there until a person has answered. A run of it is aborted.
 * @throws task_not_found, invalid_transition
 */
export function doubtTask(context: OrchestratorContext, id: number, reason?: string): Task {
  return context.store.transaction(() => {
    const row = requireRow(context, id)
    if (row.status === 'Doubted') return requireTask(context, id)
    const resolver = ensureResolutionAgent(context)
    moveTask(context, row, 'Doubted', {
      status_reason: reason ?? null,
      agent_id: resolver.id,
      doubted_agent_id: row.agent_id,
      doubted_status: row.status,
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

/**
 * Settles a doubt. A justified one makes its report a constraint of the task, which is queued again; an unjustified
 * one queues it as it was, or completes it. The report is handed to the receiver of awards.
 * @throws task_not_found, invalid_transition
 */
export function resolveDoubt(context: OrchestratorContext, id: number, resolution: Resolution): Task {
  const {validated, report, resume = true} = resolution
  return context.store.transaction(() => {
    const doubted = requireDoubted(context, id)
    const row = giveBack(context, doubted)
    if (validated && !resume) completeRow(context, row, undefined, report)
    else goOn(context, row, validated ? row.description : withReport(row.description, report), report)
    // The agent that doubted is meant, wherever the task is now.
    const doubter = doubted.doubted_agent_id ?? row.agent_id
    appendEvent(context, {type: 'task_resolved', task_id: id, agent_id: doubter, validated, report})
    awardForResolutions(context)
    return requireTask(context, id)
  })
}

/**
 * A person takes the task as done, whatever the doubt.
 * @throws task_not_found, invalid_transition
 */
export function overruleDoubt(context: OrchestratorContext, id: number, reason = ''): Task {
  return context.store.transaction(() => {
    const row = giveBack(context, requireDoubted(context, id))
    completeRow(context, row, undefined, `OVERRULED: ${reason}`.trim())
    return requireTask(context, id)
  })
}

/** @throws task_not_found, invalid_transition */
function requireDoubted(context: OrchestratorContext, id: number): TaskRow {
  const row = requireRow(context, id)
  requireStatus(row, ['Doubted'], 'Queued')
  return row
}

/** Gives a doubted task back to the agent that had it, or to another one where that has retired. */
function giveBack(context: OrchestratorContext, row: TaskRow): TaskRow {
  const agentId = homeAgent(context, row, row.doubted_agent_id ?? row.agent_id)
  moveTask(context, row, 'Doubted', {agent_id: agentId, doubted_agent_id: null})
  return requireRow(context, row.id)
}

/** The doubt does not stand for anything else that the task waited for: a person's consent, or its dependencies. */
function goOn(context: OrchestratorContext, row: TaskRow, description: string, report: string): void {
  const awaitsConsent = row.doubted_status === 'BlockedOnApproval'
  const next = awaitsConsent ? 'BlockedOnApproval' : row.unmet_dependencies > 0 ? 'Blocked' : 'Queued'
  moveTask(context, row, next, {
    audit_report: report,
    status_reason: null,
    doubted_status: null,
    description,
    blocked_on: next === 'Blocked' ? lastOpen(context, row.id) : null,
  })
  const lost = lostDependency(context, row.id)
  if (lost === undefined) return
  failWaiting(context, requireRow(context, row.id), lost)
  failDependants(context, row.id)
}

const withReport = (description: string, report: string) => `${description}\n\n[RESOLUTION]\n${report}`
