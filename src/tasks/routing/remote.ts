import {type Capabilities, noCapabilities} from '../../workspace/index.js'
import type {NodeRow} from '../base/polled-nodes.js'

/** Routing's record of a node between two polls. */
export interface RemoteHint {
  nodeId: string
  /** `min_vram_mb` is the memory that the node has. */
  capabilities: Capabilities
  gpuTotalCount?: number
  gpuHealthyCount?: number
  gpuAllocatableCount?: number
  gpuReadinessOk?: boolean
  /** Labels that begin with `workload=` or `pool=`. */
  trainingLabels: readonly string[]
  maintenance: boolean
  quarantined: boolean
  /** The last heartbeat is older than the threshold. */
  heartbeatStale: boolean
}

/** @param staleThresholdMs 0 disables the staleness check */
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

/** True if the node can receive work. */
export const isSchedulable = (hint: RemoteHint): boolean =>
  !hint.quarantined && !hint.maintenance && !hint.heartbeatStale

/** True if the node has an available GPU; counts and readiness that it does not report are not held against it. */
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

/** True if the node can receive work for an available GPU. */
export const isGpuSchedulable = (hint: RemoteHint): boolean => isSchedulable(hint) && isGpuEligible(hint)
