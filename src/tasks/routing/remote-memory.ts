import type {NodeRecord} from '../../mesh/index.js'
import {type PlacementReason, parseCapabilities} from '../../workspace/index.js'
import {decidePlacement} from './placement.js'
import {remoteHint} from './remote.js'

/**
 * The reason to run a task here because no node has the GPU memory that it needs; undefined if one has.
 * @param needed MiB
 * @param nowMs Unix ms
 */
export function reasonWithoutMemory(
  nodes: readonly NodeRecord[],
  needed: number,
  nowMs: number,
): PlacementReason | undefined {
  const remoteNodes = nodes.map((node) =>
    remoteHint({...node, capabilities: parseCapabilities(node.capabilities)}, 0, nowMs),
  )
  const {reason} = decidePlacement({gated: true, minVramMb: needed, localVram: [], remoteNodes, relay: 'not_tried'})
  return reason === 'local_queue_default' ? undefined : reason
}
