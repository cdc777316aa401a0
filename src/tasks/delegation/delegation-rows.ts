import type {TaskContext} from '../base/context.js'
import {requireRow, type TaskRow} from '../lifecycle/task-rows.js'

/**
 * States of a delegation. `granting`: the lease is being acquired; `held`: the lease is held; `relayed`: the control
 * plane has the envelope; `started`: a worker runs the task. The others are final: `superseded` means that the task runs
 * here instead.
 */
export type DelegationState = 'granting' | 'held' | 'relayed' | 'started' | 'done' | 'superseded' | 'cancelled'

/** A row of `mesh_delegations`: one attempt to run a task on another node. Times are Unix milliseconds. */
export interface DelegationRow {
  id: number
  repository_id: string
  task_id: number
  task_uid: string
  /** Generation of the claim under which the result is accepted. */
  generation: number
  idempotency_key: string
  state: DelegationState
  claimer_node_id: string
  receiver_agent_id: string
  reply_to_agent_id: string
  lease_id: string | null
  message_id: number | null
  worker_node_id: string | null
  /** Digest of each input file that existed, by path, as JSON. */
  inputs_json: string
  /** Digest of each file that the result is replacing, by path, as JSON; set while the files are being written. */
  applying_json: string | null
  /** Why it ended. */
  end_reason: string | null
  created_at_ms: number
  updated_at_ms: number
}

const openStates = "('granting', 'held', 'relayed', 'started')"

/** Delegations that are not over, oldest first. */
export const openDelegations = ({store, repositoryId}: TaskContext): DelegationRow[] =>
  store.all<DelegationRow>(
    `SELECT * FROM mesh_delegations WHERE repository_id = ? AND state IN ${openStates} ORDER BY id`,
    [repositoryId],
  )

/** Keys of open delegations under a lease whose tasks no longer wait for them. */
export const abandonedDelegations = ({store, repositoryId}: TaskContext): string[] =>
  store
    .all<{idempotency_key: string}>(
      `SELECT d.idempotency_key FROM mesh_delegations d JOIN orch_tasks t ON t.id = d.task_id
WHERE d.repository_id = ? AND d.state IN ${openStates} AND d.lease_id IS NOT NULL
  AND (t.status <> 'InProgress' OR t.claim_generation <> d.generation)`,
      [repositoryId],
    )
    .map(({idempotency_key: key}) => key)

export const delegationWithKey = ({store, repositoryId}: TaskContext, key: string): DelegationRow | undefined =>
  store.get<DelegationRow>('SELECT * FROM mesh_delegations WHERE repository_id = ? AND idempotency_key = ?', [
    repositoryId,
    key,
  ])

/** The latest delegation of a task. */
export const delegationOfTask = ({store, repositoryId}: TaskContext, taskId: number): DelegationRow | undefined =>
  store.get<DelegationRow>(
    'SELECT * FROM mesh_delegations WHERE repository_id = ? AND task_id = ? ORDER BY id DESC LIMIT 1',
    [repositoryId, taskId],
  )

export const isOpen = ({state}: Pick<DelegationRow, 'state'>): boolean =>
  state === 'granting' || state === 'held' || state === 'relayed' || state === 'started'

type Changes = Partial<
  Pick<
    DelegationRow,
    'state' | 'lease_id' | 'message_id' | 'worker_node_id' | 'inputs_json' | 'applying_json' | 'end_reason'
  >
>

export function updateDelegation({store, now}: TaskContext, id: number, changes: Changes): void {
  const names = Object.keys(changes)
  store.run(
    `UPDATE mesh_delegations SET ${names.map((name) => `${name} = ?, `).join('')}updated_at_ms = ? WHERE id = ?`,
    [...Object.values(changes), now(), id],
  )
}

/** The task of a delegation, if the delegation still owns it. */
export function heldTask(context: TaskContext, {task_id, generation, state}: DelegationRow): TaskRow | undefined {
  const row = requireRow(context, task_id)
  const isHeld = row.status === 'InProgress' && row.claim_generation === generation && isOpen({state})
  return isHeld ? row : undefined
}
