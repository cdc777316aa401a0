import type {OrchAttentionV1} from '../../contracts/index.js'
import type {WorkspaceContext} from '../../workspace/index.js'
import type {PolledNodes} from './polled-nodes.js'

/** The stored part of the attention budget; the rest is derived from it and the settings. */
export type AttentionCounts = Omit<
  OrchAttentionV1['budget'],
  'enabled' | 'max_attention_ms' | 'spent_ratio' | 'signal' | 'focus_depth' | 'efficiency'
>

/** Small values of the workspace that outlive a process, each stored as JSON under its own name. */
interface StoredState {
  /** Weighted loads of the last ticks, latest last. */
  load_history: readonly number[]
  last_scale_up_ms: number
  last_rebalance_ms: number
  /** Id of the last event that the award consumer has processed. */
  awards_cursor: number
  attention_budget: AttentionCounts
  /** The emergency stop; null after the orchestrator was started again. */
  emergency_stop: EmergencyStop | null
  /** Time of the last activity before the latest `orchestrator_idle` event, Unix ms. */
  idle_since_ms: number
  mesh_nodes: PolledNodes
  /** The daemon has read hidden checks, which every completion must pass. */
  hidden_checks: true
}

/** An emergency stop: nothing is accepted or started until the orchestrator is started again. */
export interface EmergencyStop {
  /** Unix ms. */
  at_ms: number
  reason?: string
}

export function readState<K extends keyof StoredState>(
  {store, repositoryId}: WorkspaceContext,
  key: K,
): StoredState[K] | undefined {
  const row = store.get<{value: string}>('SELECT value FROM orch_state WHERE repository_id = ? AND key = ?', [
    repositoryId,
    key,
  ])
  return row === undefined ? undefined : (JSON.parse(row.value) as StoredState[K])
}

export function writeState<K extends keyof StoredState>(
  {store, repositoryId}: WorkspaceContext,
  key: K,
  value: StoredState[K],
): void {
  store.run(
    `INSERT INTO orch_state (repository_id, key, value) VALUES (?, ?, ?)
ON CONFLICT DO UPDATE SET value = excluded.value`,
    [repositoryId, key, JSON.stringify(value)],
  )
}

export function deleteState({store, repositoryId}: WorkspaceContext, key: keyof StoredState): void {
  store.run('DELETE FROM orch_state WHERE repository_id = ? AND key = ?', [repositoryId, key])
}
