import type {Capabilities} from './capabilities.js'
import type {
  BenchmarkTier,
  ExecutionRole,
  PlacementReason,
  Priority,
  ProcessorName,
  TaskCategory,
  TaskLabel,
  TaskPhase,
} from './vocabulary.js'

/** A file that a task reads or writes: a path relative to the root of the workspace, with `/`. */
export interface ManifestEntry {
  path: string
  access: 'read' | 'write'
}

/** Ids that a request brings along; every record of the task carries them. */
export interface Correlation {
  journey_id?: string
  session_id?: string
  thread_id?: string
  /** W3C trace id where possible; made up when the caller gives none. */
  trace_id: string
  correlation_id?: string
  tenant_id?: string
  campaign_id?: string
}

/** A task that another node holds. */
export interface RemoteDelegate {
  idempotency_key: string
  lease_id?: string
  claimer_node_id?: string
}

/** A client that runs an external task: a later claim has a higher generation, and only the latest one counts. */
export interface Claim {
  owner: string
  generation: number
  expires_at_ms: number
}

export interface TranscriptEntry {
  agent_id: number
  agent_name: string
  message: string
  timestamp_ms: number
}

/** A command template of the workspace and what its placeholders stand for. */
export interface ExecRequest {
  template: string
  params: Readonly<Record<string, string>>
}

/** What a task's processor gave: `text`, and whatever else it found worth telling. */
export interface TaskResult {
  text: string
  [detail: string]: unknown
}

/** What the command of a task has written into both pipes, with a line where bytes are missing. */
export interface TaskOutput {
  text: string
  /** All that it has written. */
  bytes: number
  /** Those between its beginning and its end that are not kept. */
  missing_bytes: number
}

/** A task as the store knows it and as every surface prints it. Times are Unix milliseconds. */
export interface Task extends Correlation {
  id: number
  /** `T-0042`. */
  display_id: string
  /** Unique everywhere and for ever, also across stores. */
  uid: string
  repository_id: string
  status: TaskLabel
  /** Why it failed, was doubted or cancelled. */
  status_reason?: string
  /** The dependency it waits for. */
  blocked_on?: number
  agent_id: number
  agent_name: string
  priority: Priority
  description: string
  category: TaskCategory
  /** 1 to 10. */
  complexity: number
  /** Label of `[PHASE:NAME]` in the description, else `single_shot`. */
  phase_label: string
  execution_role?: ExecutionRole
  processor: ProcessorName
  exec?: ExecRequest
  file_manifest: readonly ManifestEntry[]
  depends_on: readonly number[]
  capability_requirements?: Capabilities
  model_preference?: string
  model_override?: string
  benchmark_tier?: BenchmarkTier
  budget?: {max_cost_usd?: number; max_latency_ms?: number}
  tool_hints: readonly string[]
  research_hints: readonly string[]
  active_skill?: string
  is_detached: boolean
  placement_reason: PlacementReason
  remote_delegate?: RemoteDelegate
  /** Grows whenever somebody starts the task or takes it away; an end counts only under the latest one. */
  generation: number
  claim?: Claim
  current_phase?: TaskPhase
  transcript: readonly TranscriptEntry[]
  result?: TaskResult
  /** Only where it was asked for. */
  output?: TaskOutput
  audit_report?: string
  retry_count: number
  debug_iterations: number
  toestub_iterations: number
  socrates_iterations: number
  handoff_count: number
  created_at_ms: number
  updated_at_ms: number
  started_at_ms?: number
  finished_at_ms?: number
  /** Milliseconds after which a run of it ends, in the place of the limits of the workspace. */
  task_timeout_ms?: number
  /** How often it is run again after a failure, in the place of `max_task_retries`. */
  retries?: number
  /** Not before this moment, as its submission asks for or after a failure. */
  not_before_ms?: number
}
