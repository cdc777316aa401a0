import {SvcError} from '../../errors/index.js'
import {notify, type TaskStatus, type WorkspaceContext} from '../../workspace/index.js'
import {displayTask} from '../base/ids.js'

/**
 * Allowed status transitions. `Completed` is final except for a doubt, which can also return to it. Keeping the status is
 * always allowed and only changes its details. A queued or running task is `BlockedOnApproval` while it waits for the
 * answer to a question. A failed or cancelled task leaves its state by a retry: with unmet dependencies to `Blocked`, and
 * without the approval that it needs to `BlockedOnApproval`.
 */
export const transitions: Readonly<Record<TaskStatus, readonly TaskStatus[]>> = {
  Queued: ['InProgress', 'BlockedOnApproval', 'Doubted', 'Cancelled'],
  InProgress: ['Queued', 'Completed', 'Failed', 'Cancelled', 'Blocked', 'BlockedOnApproval', 'Doubted'],
  Blocked: ['Queued', 'Failed', 'Cancelled', 'Doubted'],
  BlockedOnApproval: ['Queued', 'Blocked', 'InProgress', 'Failed', 'Cancelled', 'Doubted'],
  Doubted: ['Queued', 'Blocked', 'BlockedOnApproval', 'Completed', 'Failed', 'Cancelled'],
  Failed: ['Queued', 'Blocked', 'BlockedOnApproval', 'Cancelled', 'Doubted'],
  Completed: ['Doubted'],
  Cancelled: ['Queued', 'Blocked', 'BlockedOnApproval', 'Doubted'],
}

export const canMove = (from: TaskStatus, to: TaskStatus): boolean => from === to || transitions[from].includes(to)

/** Columns that a transition may change with the status; omitted columns are not changed. */
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
  ended_generation?: number | null
  remote_delegate?: string | null
  delegation?: 'open' | 'local' | null
  run_process?: string | null
  current_phase?: string | null
  result?: string | null
  audit_report?: string
  receipt?: string | null
  debug_iterations?: number
  toestub_iterations?: number
  socrates_iterations?: number
  retry_count?: number
  fault_count?: number
  handoff_count?: number
  not_before_ms?: number | null
  started_at_ms?: number | null
  finished_at_ms?: number | null
}

/** Column changes on entering each state. */
const entering: Readonly<Record<TaskStatus, (now: number) => TaskChanges>> = {
  Queued: () => ({...released, blocked_on: null, finished_at_ms: null, receipt: null}),
  InProgress: (now) => ({status_reason: null, not_before_ms: null, started_at_ms: now}),
  Blocked: () => ({...released, finished_at_ms: null, receipt: null}),
  BlockedOnApproval: () => released,
  // A doubted completion is not confirmed to a client that repeats it.
  Doubted: () => ({...released, ended_generation: null}),
  Completed: (now) => ({...released, status_reason: null, finished_at_ms: now}),
  Failed: (now) => ({...released, finished_at_ms: now}),
  Cancelled: (now) => ({...released, finished_at_ms: now, receipt: null}),
}

/** Clears the claim but not its generation, so that a late result of the former holder is recognised. */
const released: TaskChanges = {
  claim_owner: null,
  claim_expires_ms: null,
  current_phase: null,
  remote_delegate: null,
}

/**
 * Changes the status of a task; no other function does.
 * @param isRestored the task returns to the final state it had before a doubt, which is not a new attempt at its node
 * @throws invalid_transition
 */
export function moveTask(
  context: WorkspaceContext,
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
