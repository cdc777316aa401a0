import type {Incarnation, NodeFacts} from '../node.js'
import {bodyOf, must, type Read, readerOf} from './member.js'
import {agentId, anyObject, flag, integer, list, nodeId, number, object, oneOf, word} from './types.js'

const u32 = integer(0, 2 ** 32 - 1)
const shortWord = word(256)

const capabilities = readerOf({
  gpu_cuda: flag,
  gpu_vulkan: flag,
  gpu_webgpu: flag,
  gpu_metal: flag,
  npu: flag,
  prefer_gpu_compute: flag,
  visus_eligible: flag,
  multi_modal: flag,
  device_class: shortWord,
  routing_tier: shortWord,
  min_vram_mb: u32,
  cpu_cores: u32,
  min_cpu_cores: u32,
  arch: shortWord,
  hostname: shortWord,
  labels: list(256, shortWord),
})

/** What a node may report of itself; quarantine, trust and when it was seen are for the control plane to say. */
const facts = {
  id: must(nodeId),
  version: shortWord,
  capabilities: object(capabilities),
  listen_addr: word(2048),
  visibility: oneOf('private', 'public', 'hybrid'),
  pool_id: shortWord,
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

/** What comes with the facts, and is not among them. */
const aside = {
  scope_id: word(256),
  incarnation: integer(),
  seq: integer(),
} as const

const join = bodyOf({
  ...facts,
  ...aside,
  version: must(facts.version),
  capabilities: must(facts.capabilities),
  maintenance: flag,
  maintenance_until_unix_ms: integer(),
})

const heartbeat = bodyOf(facts)
const besidesHeartbeat = readerOf({...aside, receiver_agent_id: agentId})

export interface JoinBody extends Partial<Incarnation> {
  facts: NodeFacts
  scope: string | undefined
  maintenance: {on: boolean; untilMs?: number | undefined} | undefined
}

/** @throws invalid_json, missing_field */
export function readJoin(body: unknown): JoinBody {
  const {scope_id, incarnation, seq, maintenance, maintenance_until_unix_ms: untilMs, ...facts} = join(body)
  return {
    facts,
    scope: scope_id,
    maintenance: maintenance === undefined ? undefined : {on: maintenance, untilMs},
    ...turn({incarnation, seq}),
  }
}

export interface HeartbeatBody extends Partial<Incarnation> {
  facts: Partial<NodeFacts> & {id: string}
  /** The facts are a whole record: both the capabilities and the version are there. */
  isFull: boolean
  scope: string | undefined
  /** Agent whose messages the node waits for. */
  receiver: string | undefined
}

/** @throws invalid_json, missing_field, invalid_agent_id */
export function readHeartbeat(body: unknown): HeartbeatBody {
  const facts = heartbeat(body)
  const {scope_id, incarnation, seq, receiver_agent_id} = besidesHeartbeat(body as object)
  const beat: HeartbeatBody = {
    facts,
    isFull: facts.capabilities !== undefined && facts.version !== undefined,
    scope: scope_id,
    receiver: receiver_agent_id,
  }
  // Spread, as at a join, these two would cost as much as all the rest.
  if (incarnation !== undefined) beat.incarnation = incarnation
  if (seq !== undefined) beat.seq = seq
  return beat
}

const turn = ({
  incarnation,
  seq,
}: {
  incarnation: number | undefined
  seq: number | undefined
}): Partial<Incarnation> => ({
  ...(incarnation === undefined ? {} : {incarnation}),
  ...(seq === undefined ? {} : {seq}),
})

export const readLeave: (body: unknown) => Read<{id: typeof facts.id}> = bodyOf({id: facts.id})
