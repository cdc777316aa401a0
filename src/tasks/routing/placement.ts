import type {PlacementReason} from '../base/vocabulary.js'
import type {RemoteHint} from './remote.js'

export interface PlacementFacts {
  /** The task may be given to another node. */
  gated: boolean
  /** MiB of GPU memory that the task needs. */
  minVramMb?: number | undefined
  /** MiB that each local agent offers, where it tells. */
  localVram: readonly (number | undefined)[]
  /** The registered nodes; undefined where the list could not be had. */
  remoteNodes?: readonly RemoteHint[] | undefined
  /** What came of giving the task away. */
  relay: 'not_tried' | 'accepted' | 'failed'
}

export interface Placement {
  reason: PlacementReason
  /** Who runs the task: a local agent, or the holder of the remote lease. There is never more than one. */
  owner: 'local' | 'remote'
}

/**
 * Where a task goes and the code that says why. The first case that holds wins:
 *
 * 1. Giving it away was tried. What came of it stands: the task is held for the node that took it, or it is queued
 *    here after the error. What anybody's GPU has no longer matters.
 * 2. It needs GPU memory, and nobody registered has that much. It is queued here all the same, since somebody may come
 *    who has it. For a task that may be given away, the ones asked are the nodes; a list of nodes that could not be had
 *    is no objection. For any other task they are the local agents and the nodes known.
 * 3. It is queued here, and there is nothing to say about it.
 *
 * A task that may be given away is decided twice: before the try, when case 2 spares it, and after.
 */
export function decidePlacement(facts: PlacementFacts): Placement {
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

/** A node that has not been heard of for a while is still registered; one in maintenance or quarantine is not asked. */
const nodesHave = (minVramMb: number, nodes: readonly RemoteHint[]) =>
  nodes.some(
    ({maintenance, quarantined, capabilities}) =>
      !maintenance && !quarantined && (capabilities.min_vram_mb ?? 0) >= minVramMb,
  )
