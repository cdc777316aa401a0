import {type Capabilities, noCapabilities} from '../base/capabilities.js'

/** The members of a row of the nodes list that routing reads. */
export interface NodeRow {
  id: string
  capabilities?: Partial<Capabilities> | undefined
  last_seen_unix_ms: number
  maintenance?: boolean | undefined
  /** Without it, maintenance lasts until it is taken back. */
  maintenance_until_unix_ms?: number | undefined
  quarantined?: boolean | undefined
  gpu_total_count?: number | undefined
  gpu_healthy_count?: number | undefined
  gpu_allocatable_count?: number | undefined
  gpu_readiness_ok?: boolean | undefined
}

/** What routing remembers of a node between two polls. */
export interface RemoteHint {
  nodeId: string
  /** `min_vram_mb` is what the node has. */
  capabilities: Capabilities
  gpuTotalCount?: number
  gpuHealthyCount?: number
  gpuAllocatableCount?: number
  gpuReadinessOk?: boolean
  /** Labels `workload=…` and `pool=…`. */
  trainingLabels: readonly string[]
  maintenance: boolean
  quarantined: boolean
  /** It has not been heard of for longer than the threshold. */
  heartbeatStale: boolean
}

/** @param staleThresholdMs 0 lets no node become stale */
export function remoteHint(row: NodeRow, staleThresholdMs: number, nowMs: number): RemoteHint {
  const capabilities = {...noCapabilities, ...row.capabilities}
  return {
    nodeId: row.id,
    capabilities,
    ...(row.gpu_total_count === undefined ? {} : {gpuTotalCount: row.gpu_total_count}),
    ...(row.gpu_healthy_count === undefined ? {} : {gpuHealthyCount: row.gpu_healthy_count}),
    ...(row.gpu_allocatable_count === undefined ? {} : {gpuAllocatableCount: row.gpu_allocatable_count}),
    ...(row.gpu_readiness_ok === undefined ? {} : {gpuReadinessOk: row.gpu_readiness_ok}),
    trainingLabels: capabilities.labels.filter((label) => /^(?:workload|pool)=/.test(label)),
    maintenance: row.maintenance === true && (row.maintenance_until_unix_ms ?? Infinity) > nowMs,
    quarantined: row.quarantined === true,
    heartbeatStale: staleThresholdMs > 0 && nowMs - row.last_seen_unix_ms > staleThresholdMs,
  }
}

/** Whether work may be meant for the node at all. */
export const isSchedulable = (hint: RemoteHint): boolean =>
  !hint.quarantined && !hint.maintenance && !hint.heartbeatStale

/** Whether the node has a GPU to give: counts and readiness that it does not tell are no objection. */
export const isGpuEligible = ({
  capabilities,
  gpuReadinessOk,
  gpuHealthyCount,
  gpuAllocatableCount,
}: RemoteHint): boolean =>
  (capabilities.gpu_cuda || capabilities.gpu_metal) &&
  gpuReadinessOk !== false &&
  gpuHealthyCount !== 0 &&
  gpuAllocatableCount !== 0
