import type {
  AgentActivity,
  NodeStatus,
  PlacementReason,
  PlanStrategy,
  Priority,
  TaskPhase,
  TaskStatus,
} from '../base/vocabulary.js'

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
  /** Somebody ended a task that the owner held. */
  | {type: 'task_claim_overridden'; task_id: number; agent_id: number; owner: string; generation: number}
  | TaskDoubted
  | TaskResolved
  | {type: 'agent_spawned'; agent_id: number; name: string; reason?: string}
  | {type: 'agent_retired'; agent_id: number; name: string}
  | {type: 'agent_paused' | 'agent_resumed'; agent_id: number}
  | {type: 'agent_heartbeat'; agent_id: number; activity: AgentActivity}
  | {type: 'scope_violation'; agent_id: number; path: string; reason: string}
  | {
      type: 'cost_incurred'
      /** Both are absent where the model was not asked for a task. */
      task_id?: number
      agent_id?: number
      provider: string
      model: string
      input_tokens: number
      output_tokens: number
      cost_usd: number
    }
  | {type: 'urgent_rebalance_triggered'; moved: number}
  | {type: 'plan_session_created'; plan_session_id: string; strategy: PlanStrategy; nodes: number}
  | {type: 'plan_version_created'; plan_session_id: string; version: number; parent_version?: number}
  | {type: 'replan_triggered'; plan_session_id: string; version: number; reason: string; task_id?: number}
  | PlanNodeStatus
  | MessageSent
  | MessageDeadLettered
  | {type: 'daemon_started' | 'daemon_stopped'; holder: string; fence: number}
  | OperationReversed
  /** Names of the settings that are others now. */
  | {type: 'config_reloaded'; changed: readonly string[]}

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

/** A step of a plan stands otherwise. One that is pending still could not be submitted, for the reason that is given. */
export interface PlanNodeStatus {
  type: 'plan_node_status'
  plan_session_id: string
  version: number
  node_id: string
  status: NodeStatus
  task_id?: number
  reason?: string
}

/** An agent met something that it cannot settle alone. */
export interface TaskDoubted {
  type: 'task_doubted'
  task_id: number
  agent_id: number
  reason?: string
}

/** A durable message is in the inbox of an agent. */
export interface MessageSent {
  type: 'message_sent'
  /** Whose inbox it is. */
  agent_id: number
  sender_agent_id: number
  message_id: number
  message_uuid: string
  msg_type: string
}

/** A durable message was never acknowledged: not after its last delivery, or not before its agent retired. */
export interface MessageDeadLettered extends Omit<MessageSent, 'type'> {
  type: 'message_dead_lettered'
  delivery_attempts: number
  /** Why its last delivery failed, where that was said. */
  error?: string
}

/** The doubt is settled; `validated` says that the work was sound as it stood. */
export interface TaskResolved {
  type: 'task_resolved'
  task_id: number
  agent_id: number
  validated: boolean
  report: string
}

/** What a person did was taken back, or done again. */
export interface OperationReversed {
  type: 'operation_undone' | 'operation_redone'
  /** `OP-000007`. */
  op_id: string
  /** `reorder_task`. */
  operation: string
  summary: string
  task_id?: number
  agent_id?: number
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
