import type {Capabilities} from './capabilities.js'
import type {AgentActivity, TaskPhase} from './vocabulary.js'

/**
 * Reserved agents are spawned by a person or to reach the least number; dynamic ones by routing and scaling, and they
 * retire when they are idle; the resolution agent has the tasks in doubt and never runs any.
 */
export type AgentKind = 'reserved' | 'dynamic' | 'resolution'
export type AgentState = 'active' | 'paused' | 'retired'

/** An agent: a queue of tasks, of which the daemon runs one at a time; those of clients run beside it. */
export interface Agent {
  id: number
  /** `A-03`. */
  display_id: string
  name: string
  kind: AgentKind
  state: AgentState
  parent_agent_id?: number
  source_task_id?: number
  spawn_reason?: string
  capabilities: Capabilities
  /** Name of the model that it asks, where it has one of its own. */
  model?: string
  session_id?: string
  activity: AgentActivity
  queued: number
  queued_urgent: number
  queued_normal: number
  queued_background: number
  running: number
  doubted: number
  completed: number
  /** Sum over its queued and running tasks of priority weight times complexity / 5. */
  weighted_load: number
  owned_files: number
  current_phase?: TaskPhase
  tokens_used: number
  cost_usd: number
  created_at_ms: number
  last_active_ms: number
}
