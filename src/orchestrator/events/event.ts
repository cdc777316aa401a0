import type {AgentActivity, PlacementReason, Priority, TaskPhase, TaskStatus} from '../vocabulary.js'

/** What has happened. `type` is the tag on the wire; the members beside it are its facts. */
export type OrchestratorEvent =
  | {type: 'task_submitted'; task_id: number; agent_id: number; description: string; status: TaskStatus}
  | TaskPlaced
  | {type: 'task_started'; task_id: number; agent_id: number; owner: string; generation: number}
  | {type: 'task_phase_changed'; task_id: number; agent_id: number; phase: TaskPhase}
  | {type: 'task_completed'; task_id: number; agent_id: number; audit_report?: string}
  | {type: 'task_failed'; task_id: number; agent_id: number; error: string}
  | {type: 'task_cancelled'; task_id: number; agent_id: number; reason?: string}
  | {type: 'task_requeued'; task_id: number; agent_id: number; reason: string; not_before_ms?: number}
  | {type: 'task_unblocked'; task_id: number; agent_id: number}
  | {type: 'task_approved'; task_id: number; agent_id: number}
  | {type: 'task_reordered'; task_id: number; agent_id: number; priority: Priority}
  | {type: 'task_moved'; task_id: number; agent_id: number; from_agent_id: number}
  | {type: 'task_claim_expired'; task_id: number; agent_id: number; owner: string; generation: number}
  | TaskDoubted
  | TaskResolved
  | {type: 'agent_spawned'; agent_id: number; name: string; reason?: string}
  | {type: 'agent_retired'; agent_id: number; name: string}
  | {type: 'agent_paused' | 'agent_resumed'; agent_id: number}
  | {type: 'agent_heartbeat'; agent_id: number; activity: AgentActivity}
  | {type: 'scope_violation'; agent_id: number; path: string; reason: string}
  | {
      type: 'cost_incurred'
      task_id: number
      agent_id: number
      provider: string
      model: string
      input_tokens: number
      output_tokens: number
      cost_usd: number
    }
  | {type: 'urgent_rebalance_triggered'; moved: number}
  | {type: 'daemon_started' | 'daemon_stopped'; holder: string; fence: number}

/** Where a task was put, and why: one on every decision. */
export interface TaskPlaced {
  type: 'task_placed'
  task_id: number
  agent_id: number
  placement_reason: PlacementReason
  lease_id: string | null
  /** Tasks queued for the agent once this one is in. */
  queue_len: number
  trace_id: string
  /** Terms of the score of the chosen agent; only while unified routing telemetry is on. */
  reason?: Readonly<Record<string, number>>
}

/** An agent met something that it cannot settle alone. */
export interface TaskDoubted {
  type: 'task_doubted'
  task_id: number
  agent_id: number
  reason?: string
}

/** The doubt is settled; `validated` says that the work was sound as it stood. */
export interface TaskResolved {
  type: 'task_resolved'
  task_id: number
  agent_id: number
  validated: boolean
  report: string
}

export type EventType = OrchestratorEvent['type']

/** An event as it is stored and printed. Ids grow in the order of the transactions that wrote them. */
export interface EventRecord {
  id: number
  timestamp_ms: number
  kind: OrchestratorEvent
  /** Ids of the request that the task came with. */
  correlation?: Readonly<Record<string, string>>
}
