import type {PlacementReason} from '../../workspace/index.js'
import type {RemoteHint} from './remote.js'

export interface PlacementFacts {
  /** The task may be delegated to another node. */
  gated: boolean
  /** MiB of GPU memory that the task needs. */
  minVramMb?: number | undefined
  /** GPU memory of each local agent in MiB, if known. */
  localVram: readonly (number | undefined)[]
  /** The registered nodes; undefined if the list is not available. */
  remoteNodes?: readonly RemoteHint[] | undefined
  /** Result of delegating the task. */
  relay: 'not_tried' | 'accepted' | 'failed'
}

export interface PlacementDecision {
  reason: PlacementReason
  /** Who runs the task: a local agent, or the holder of the remote lease, never both. */
  owner: 'local' | 'remote'
}

/**
 * Decides where a task runs, with the reason code. The first case that applies wins:
 *
 * 1. Delegation was tried. Its result is final: the task is held for the node that accepted it, or is queued here after
 *    the error. GPU memory no longer matters.
 * 2. The task needs GPU memory that no registered machine has. It is still queued here, since one may join later. A
 *    task that may be delegated is checked against the nodes; an unavailable node list counts as sufficient. Any other
 *    task is checked against the local agents and the known nodes.
 * 3. The task is queued here by default.
 *
 * A task that may be delegated is decided twice: before the attempt, which case 2 can prevent, and after it.
 */
export function decidePlacement(facts: PlacementFacts): PlacementDecision {
  if (facts.relay === 'accepted') return {reason: 'populi_remote_lease_hold', owner: 'remote'}
  if (facts.relay === 'failed') return {reason: 'local_queue_fallback_after_remote_relay_error', owner: 'local'}
  if (!isVramRegistered(facts)) return {reason: 'local_queue_fallback_insufficient_vram', owner: 'local'}
  return {reason: 'local_queue_default', owner: 'local'}
}

function isVramRegistered({gated, minVramMb = 0, localVram, remoteNodes}: PlacementFacts): boolean {
  if (minVramMb <= 0) return true
  if (gated) return remoteNodes === undefined || nodesHave(minVramMb, remoteNodes)
  return localVram.some((offered = 0) => offered >= minVramMb) || nodesHave(minVramMb, remoteNodes ?? [])
}

/** A node with a stale heartbeat still counts as registered; a node in maintenance or quarantine does not. */
const nodesHave = (minVramMb: number, nodes: readonly RemoteHint[]) =>
  nodes.some(
    ({maintenance, quarantined, capabilities}) =>
      !maintenance && !quarantined && (capabilities.min_vram_mb ?? 0) >= minVramMb,
  )
