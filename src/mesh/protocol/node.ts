import {must, type Read, readerOf} from './member.js'
import {anyObject, flag, integer, list, nodeId, number, object, oneOf, word} from './types.js'

const u32 = integer(0, 2 ** 32 - 1)
const shortWord = word(256)

/** What a node offers. Missing flags are false. */
const capabilities = {
  gpu_cuda: flag,
  gpu_vulkan: flag,
  gpu_webgpu: flag,
  gpu_metal: flag,
  npu: flag,
  prefer_gpu_compute: flag,
  visus_eligible: flag,
  multi_modal: flag,
  /** `server`, `desktop`, `mobile`, `browser`, or another word. */
  device_class: shortWord,
  routing_tier: shortWord,
  /** MiB there are. */
  min_vram_mb: u32,
  cpu_cores: u32,
  min_cpu_cores: u32,
  arch: shortWord,
  hostname: shortWord,
  /** `key=value` by convention. */
  labels: list(256, shortWord),
} as const

export type CapabilityHints = Read<typeof capabilities>

/**
 * What a node reports of itself. Everything but `id` may be missing from a heartbeat. Quarantine, trust and when it was
 * seen are for the control plane to say.
 */
export const factMembers = {
  id: must(nodeId),
  /** Of the program. */
  version: shortWord,
  capabilities: object(readerOf(capabilities)),
  /** Address of a listener that the node really has. */
  listen_addr: word(2048),
  visibility: oneOf('private', 'public', 'hybrid'),
  /** From the label `pool=…`. */
  pool_id: shortWord,
  /** `infer`, `train`, and other words. */
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
  loaded_llm_models: list(256, shortWord),
  advertised_models: list(64, anyObject(4096)),
  probe_failures: list(64, word(1024)),
} as const

/** The members that must be there when a node joins. */
export const joinMembers = {
  ...factMembers,
  version: must(factMembers.version),
  capabilities: must(factMembers.capabilities),
} as const

/** What a node reports of itself when it joins. */
export type NodeFacts = Read<typeof joinMembers>

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
