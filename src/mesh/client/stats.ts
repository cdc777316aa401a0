import type {QueueStats} from '../protocol/message.js'
import type {MeshClient} from './client.js'
import {timeOf} from './every-node.js'
import type {CallOptions} from './requests.js'

/** Numbers of a mesh. */
export interface MeshStats extends Omit<QueueStats, 'oldest_pending_unix_ms'> {
  /** Nodes that have not left, and active leases; null if the control plane does not report them. */
  nodes: number | null
  leases: number | null
  /** Age of the oldest pending message, ms; null if there is none. */
  oldest_pending_age_ms: number | null
}

/** Reads the numbers of a mesh. @throws MeshHttpError; the reason of the signal */
export async function meshStats(client: MeshClient, options?: CallOptions): Promise<MeshStats> {
  const [queue, metrics, page] = await Promise.all([
    client.queueStats(options),
    client.metrics(options),
    // Only for the time of the control plane, on which the age depends.
    client.listNodes({limit: 1, fields: 'brief'}, options),
  ])
  const {oldest_pending_unix_ms: oldest} = queue
  const gauge = (name: string) => {
    const [, value] = new RegExp(`^svc_mesh_${name} (\\d+)$`, 'm').exec(metrics) ?? []
    return value === undefined ? null : Number(value)
  }
  return {
    nodes: gauge('nodes'),
    leases: gauge('leases'),
    pending_count: queue.pending_count,
    pending_by_kind: queue.pending_by_kind ?? {},
    pending_by_priority: queue.pending_by_priority ?? {},
    dead_count: queue.dead_count ?? 0,
    oldest_pending_age_ms: oldest === undefined ? null : Math.max(0, timeOf(page) - oldest),
  }
}
