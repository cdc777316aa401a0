import {must, type Read, readerOf} from './member.js'
import {anyObject, flag, integer, list, nodeId, number, object, oneOf, word} from './types.js'

const u32 = integer(0, 2 ** 32 - 1)
const shortWord = word(256)

/** Capabilities of a node. Missing flags are false. */
const capabilities = {
  gpu_cuda: flag,
  gpu_vulkan: flag,
  gpu_webgpu: flag,
  gpu_metal: flag,
  npu: flag,
  prefer_gpu_compute: flag,
  visual_eligible: flag,
  /** Deprecated spelling of `visual_eligible`. */
  visus_eligible: flag,
  multi_modal: flag,
  /** Such as `server`, `desktop`, `mobile` or `browser`. */
  device_class: shortWord,
  routing_tier: shortWord,
  /** Available VRAM, MiB. */
  min_vram_mb: u32,
  cpu_cores: u32,
  min_cpu_cores: u32,
  arch: shortWord,
  hostname: shortWord,
  /** `key=value` by convention. */
  labels: list(256, shortWord),
} as const

export type CapabilityHints = Read<typeof capabilities>

const readMembers = readerOf(capabilities)

/** Reads either spelling of `visual_eligible`, and returns both with one value for older readers. */
function readCapabilities(value: object, path: string): CapabilityHints {
  const read = readMembers(value, path)
  const visual = read.visual_eligible ?? read.visus_eligible
  return visual === undefined ? read : {...read, visual_eligible: visual, visus_eligible: visual}
}

/** Capabilities of a node, or those that a message requires. */
export const capabilityHints = object(readCapabilities)

/**
 * Facts that a node reports. A heartbeat may omit all but `id`. Quarantine, trust and the last-seen time are set only
 * by the control plane.
 */
export const factMembers = {
  id: must(nodeId),
  version: shortWord,
  capabilities: capabilityHints,
  /** Address of the node's listener, if it has one. */
  listen_addr: word(2048),
  visibility: oneOf('private', 'public', 'hybrid'),
  /** From the label `pool=…`. */
  pool_id: shortWord,
  /** Such as `infer` or `train`. */
  workload_classes: list(64, shortWord),
  privacy_class: shortWord,
  provider: shortWord,
  host_triple: shortWord,
  gpu_total_count: u32,
  gpu_healthy_count: u32,
  gpu_allocatable_count: u32,
  gpu_inventory_source: oneOf('probed', 'advertised', 'native_registry'),
  gpu_truth_layer: oneOf('layer_a_verified', 'layer_b_allocatable', 'layer_c_advertised'),
  nvidia_driver_version: shortWord,
  cuda_driver_version: shortWord,
  gpu_readiness_ok: flag,
  gpu_readiness_reason: word(1024),
  gpu_readiness_checked_unix_ms: integer(),
  cpu_usage_pct: number(0, 100),
  memory_free_bytes: integer(),
  /** Number of tasks of other machines that the node runs; missing if it accepts none. */
  running_tasks: u32,
  loaded_llm_models: list(256, shortWord),
  advertised_models: list(64, anyObject(4096)),
  probe_failures: list(64, word(1024)),
} as const

/** Facts of a join; version and capabilities are required. */
export const joinMembers = {
  ...factMembers,
  version: must(factMembers.version),
  capabilities: must(factMembers.capabilities),
} as const

/** Facts that a node reports when it joins. */
export type NodeFacts = Read<typeof joinMembers>

/** Record of a node: reported facts, and state set by the control plane. */
export interface NodeRecord extends NodeFacts {
  /** On the store's clock. */
  last_seen_unix_ms: number
  scope_id?: string
  trust_tier?: 'new' | 'probation' | 'trusted' | 'degraded'
  maintenance?: boolean
  maintenance_until_unix_ms?: number
  quarantined?: boolean
}

/** Identifies the process of a node and the order of its requests, so that late requests can be detected. */
export interface Incarnation {
  /** Random number below 2^53, chosen when the process starts. */
  incarnation: number
  /** Sequence number within the incarnation, from 0. */
  seq: number
}

export const nodesSchemaVersion = 1

/** Response of the node list. */
export interface Registry {
  schema_version: number
  nodes: NodeRecord[]
  /** Number of messages of all receivers that are neither acknowledged nor claimed. */
  queue_depth?: number
  server_time_unix_ms?: number
  /** Interval at which the nodes are to send heartbeats, ms. */
  next_heartbeat_ms?: number
  /** Set if there are more nodes; the next page starts at `next_cursor`. */
  truncated?: true
  next_cursor?: string
}

/** Response to a heartbeat: the record, and the time until the next heartbeat. */
export interface HeartbeatReply extends NodeRecord {
  /** Time until the next heartbeat, ms; clients add a jitter of ±10 %. */
  next_heartbeat_ms: number
  server_time_unix_ms: number
  /** Pending messages of the agent named in the heartbeat, or of all agents; counted up to 100. */
  inbox_pending: number
}
