import type {WorkspaceContext} from '../workspace/index.js'

/**
 * Stored states of a delegation. `granting`: the lease is being acquired; `held`: the lease is held; `relayed`: the control
 * plane has the envelope; `started`: a worker runs the task. The others are final: `superseded` means that the task runs
 * here instead.
 */
export type StoredState = 'granting' | 'held' | 'relayed' | 'started' | FinalState
export type FinalState = 'done' | 'superseded' | 'cancelled'

/** A row of `mesh_delegations`: one attempt to run a task on another node. Times are Unix milliseconds. */
export interface DelegationRow {
  id: number
  repository_id: string
  task_id: number
  task_uid: string
  /** Generation of the claim under which the result is accepted. */
  generation: number
  idempotency_key: string
  state: StoredState
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

type NewRow = Pick<
  DelegationRow,
  | 'task_id'
  | 'task_uid'
  | 'generation'
  | 'idempotency_key'
  | 'claimer_node_id'
  | 'receiver_agent_id'
  | 'reply_to_agent_id'
>

/** Inserts a row in the state `granting`. */
export function insertRow({store, repositoryId, now}: WorkspaceContext, row: NewRow): void {
  store.run(
    `INSERT INTO mesh_delegations (repository_id, task_id, task_uid, generation, idempotency_key, state, claimer_node_id,
  receiver_agent_id, reply_to_agent_id, created_at_ms, updated_at_ms)
VALUES (@repository, @task_id, @task_uid, @generation, @idempotency_key, 'granting', @claimer_node_id,
  @receiver_agent_id, @reply_to_agent_id, @now, @now)`,
    {...row, repository: repositoryId, now: now()},
  )
}

/** Delegations that are not over, oldest first. */
export const openRows = ({store, repositoryId}: WorkspaceContext): DelegationRow[] =>
  store.all<DelegationRow>(
    `SELECT * FROM mesh_delegations
WHERE repository_id = ? AND state IN ('granting', 'held', 'relayed', 'started') ORDER BY id`,
    [repositoryId],
  )

export const rowWithKey = ({store, repositoryId}: WorkspaceContext, key: string): DelegationRow | undefined =>
  store.get<DelegationRow>('SELECT * FROM mesh_delegations WHERE repository_id = ? AND idempotency_key = ?', [
    repositoryId,
    key,
  ])

/** The latest delegation of a task. */
export const delegationOfTask = ({store, repositoryId}: WorkspaceContext, taskId: number): DelegationRow | undefined =>
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

export function updateRow({store, now}: WorkspaceContext, id: number, changes: Changes): void {
  const names = Object.keys(changes)
  store.run(
    `UPDATE mesh_delegations SET ${names.map((name) => `${name} = ?, `).join('')}updated_at_ms = ? WHERE id = ?`,
    [...Object.values(changes), now(), id],
  )
}
