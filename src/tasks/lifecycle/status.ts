import {SvcError} from '../../errors/index.js'
import {notify, type TaskContext} from '../base/context.js'
import {displayTask} from '../base/ids.js'
import type {TaskStatus} from '../base/vocabulary.js'

/**
 * Where a task may go from where it is. `Completed` and `Cancelled` are final but for a doubt, which leads back to them
 * too. Staying is always allowed: it only changes what is said about the task. `Failed` to `Blocked` is a retry whose
 * dependencies are not met.
 */
export const transitions: Readonly<Record<TaskStatus, readonly TaskStatus[]>> = {
  Queued: ['InProgress', 'Doubted', 'Cancelled'],
  InProgress: ['Queued', 'Completed', 'Failed', 'Cancelled', 'Blocked', 'BlockedOnApproval', 'Doubted'],
  Blocked: ['Queued', 'Failed', 'Cancelled', 'Doubted'],
  BlockedOnApproval: ['Queued', 'Blocked', 'InProgress', 'Failed', 'Cancelled', 'Doubted'],
  Doubted: ['Queued', 'Blocked', 'BlockedOnApproval', 'Completed', 'Failed', 'Cancelled'],
  Failed: ['Queued', 'Blocked', 'Cancelled', 'Doubted'],
  Completed: ['Doubted'],
  Cancelled: ['Doubted'],
}

export const canMove = (from: TaskStatus, to: TaskStatus): boolean => from === to || transitions[from].includes(to)

/** Columns that a transition may change with the status; those that are left out keep their value. */
export interface TaskChanges {
  status_reason?: string | null
  blocked_on?: number | null
  unmet_dependencies?: number
  agent_id?: number
  doubted_agent_id?: number | null
  doubted_status?: TaskStatus | null
  doubted_role?: string | null
  doubted_reason?: string | null
  execution_role?: string | null
  description?: string
  claim_owner?: string | null
  claim_generation?: number
  claim_expires_ms?: number | null
  run_process?: string | null
  current_phase?: string | null
  result?: string | null
  audit_report?: string
  retry_count?: number
  fault_count?: number
  handoff_count?: number
  not_before_ms?: number | null
  started_at_ms?: number | null
  finished_at_ms?: number | null
}

/** What a state means for the columns beside it. */
const entering: Readonly<Record<TaskStatus, (now: number) => TaskChanges>> = {
  Queued: () => ({...released, blocked_on: null, finished_at_ms: null}),
  InProgress: (now) => ({status_reason: null, not_before_ms: null, started_at_ms: now}),
  Blocked: () => ({...released, finished_at_ms: null}),
  BlockedOnApproval: () => released,
  Doubted: () => released,
  Completed: (now) => ({...released, status_reason: null, finished_at_ms: now}),
  Failed: (now) => ({...released, finished_at_ms: now}),
  Cancelled: (now) => ({...released, finished_at_ms: now}),
}

/** Nobody works on it. The generation of the claim stays, so that whoever worked on it is known to be late. */
const released: TaskChanges = {claim_owner: null, claim_expires_ms: null, current_phase: null}

/**
 * The one way by which a task changes its status.
 * @param isRestored it is over as it was before a doubt: that is no further attempt at its node
 * @throws invalid_transition
 */
export function moveTask(
  context: TaskContext,
  {id, status: from}: {id: number; status: TaskStatus},
  to: TaskStatus,
  changes: TaskChanges = {},
  isRestored = false,
): void {
  if (!canMove(from, to)) throw new SvcError('invalid_transition', {task: displayTask(id), from, to})
  const {store, now} = context
  const at = now()
  const columns = {...(from === to ? {} : entering[to](at)), ...changes, status: to, updated_at_ms: at}
  const names = Object.keys(columns)
  store.run(`UPDATE orch_tasks SET ${names.map((name) => `${name} = ?`).join(', ')} WHERE id = ?`, [
    ...Object.values(columns),
    id,
  ])
  if (from !== to)
    notify(context, 'taskMoved', {taskId: id, status: to, reason: changes.status_reason ?? undefined, isRestored})
}
