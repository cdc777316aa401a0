/** What a node offers. Missing flags are false. */
export interface CapabilityHints {
  gpu_cuda?: boolean
  gpu_vulkan?: boolean
  gpu_webgpu?: boolean
  gpu_metal?: boolean
  npu?: boolean
  prefer_gpu_compute?: boolean
  visus_eligible?: boolean
  multi_modal?: boolean
  /** `server`, `desktop`, `mobile`, `browser`, or another word. */
  device_class?: string
  routing_tier?: string
  /** MiB there are. */
  min_vram_mb?: number
  cpu_cores?: number
  min_cpu_cores?: number
  arch?: string
  hostname?: string
  /** `key=value` by convention. */
  labels?: readonly string[]
}

/** What a node reports of itself. Everything but `id` may be missing from a heartbeat. */
export interface NodeFacts {
  id: string
  /** Of the program. */
  version: string
  capabilities: CapabilityHints
  /** Address of a listener that the node really has. */
  listen_addr?: string
  visibility?: 'private' | 'public' | 'hybrid'
  /** From the label `pool=…`. */
  pool_id?: string
  /** `infer`, `train`, and other words. */
  workload_classes?: readonly string[]
  privacy_class?: string
  provider?: string
  host_triple?: string
  gpu_total_count?: number
  gpu_healthy_count?: number
  gpu_allocatable_count?: number
  gpu_inventory_source?: 'probed' | 'advertised' | 'native_registry'
  gpu_truth_layer?: 'layer_a_verified' | 'layer_b_allocatable' | 'layer_c_advertised'
  nvidia_driver_version?: string
  cuda_driver_version?: string
  gpu_readiness_ok?: boolean
  gpu_readiness_reason?: string
  gpu_readiness_checked_unix_ms?: number
  /** 0 to 100. */
  cpu_usage_pct?: number
  memory_free_bytes?: number
  loaded_llm_models?: readonly string[]
  advertised_models?: readonly object[]
  probe_failures?: readonly string[]
}

/** A node as the control plane has it: what the node reported, and what only the control plane says. */
export interface NodeRecord extends NodeFacts {
  /** Of the clock of the store. */
  last_seen_unix_ms: number
  scope_id?: string
  trust_tier?: 'new' | 'probation' | 'trusted' | 'degraded'
  maintenance?: boolean
  maintenance_until_unix_ms?: number
  quarantined?: boolean
}

/** Which process of a node speaks, and how often it has spoken: what arrives late is distinguished from what is new. */
export interface Incarnation {
  /** Drawn at random when the process starts, below 2^53. */
  incarnation: number
  /** Counts up from 0 within it. */
  seq: number
}

export const nodesSchemaVersion = 1

/** Answer of the list of nodes. */
export interface Registry {
  schema_version: number
  nodes: NodeRecord[]
  /** Messages that are neither acknowledged nor claimed, of all receivers. */
  queue_depth?: number
  server_time_unix_ms?: number
  /** There are more; the next page starts at `next_cursor`. */
  truncated?: true
  next_cursor?: string
}

/** Answer of a heartbeat: the record, and when the next heartbeat is due. */
export interface HeartbeatReply extends NodeRecord {
  /** Until the next heartbeat is due, ms; the client adds jitter of a tenth. */
  next_heartbeat_ms: number
  server_time_unix_ms: number
  /** Messages that wait for the agent the heartbeat named, or for anybody; counted to 100. */
  inbox_pending: number
}
