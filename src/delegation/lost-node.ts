import type {Task} from '../tasks/index.js'
import type {OrchestratorConfig} from '../workspace/index.js'

/** What happens when no worker sends heartbeats. */
export interface LostNodePolicy {
  /** Time without a heartbeat, ms. */
  afterMs: number
  /** Wait for another worker instead of running the task here. */
  replaces: boolean
  reconcile: 'keep_original' | 'keep_replacement'
}

/** The policy of a task, with that of the workspace for missing members. */
export const lostNodePolicy = (config: OrchestratorConfig, asked: Task['lost_node'] = {}): LostNodePolicy => ({
  afterMs: asked.after_ms ?? config.meshRemoteLeaseTimeoutMs,
  replaces: asked.replace ?? config.meshRemoteReplaceLostWorker,
  reconcile: asked.reconcile ?? config.meshRemoteReconcile,
})
