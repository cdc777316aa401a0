import {type MetricFamily, metricsText} from '../../net/index.js'
import type {MeshOperation} from '../protocol/routes.js'
import type {Counts} from '../store/mesh-store.js'

export interface Gauges extends Counts {
  storeDepth: number
  longPolls: number
}

export class ControlPlaneMetrics {
  readonly #answers = new Map<MeshOperation, Map<number, number>>()

  answered(operation: MeshOperation, status: number): void {
    const statuses = this.#answers.get(operation) ?? new Map<number, number>()
    if (statuses.size === 0) this.#answers.set(operation, statuses)
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
  }

  render(gauges: Gauges): string {
    const gauge = (name: string, help: string, value: number): MetricFamily => [name, 'gauge', help, [['', value]]]
    return metricsText([
      ['svc_mesh_requests_total', 'counter', 'Answered requests by operation and status.', this.#requests()],
      [
        'svc_mesh_heartbeats_total',
        'counter',
        'Accepted heartbeats.',
        [['', this.#answers.get('heartbeat')?.get(200) ?? 0]],
      ],
      gauge('svc_mesh_nodes', 'Joined nodes.', gauges.nodes),
      gauge('svc_mesh_leases', 'Active leases.', gauges.leases),
      gauge('svc_mesh_messages_pending', 'Messages neither acknowledged nor claimed.', gauges.pending),
      gauge('svc_mesh_messages_dead', 'Messages claimed too often without an acknowledgement.', gauges.dead),
      gauge('svc_mesh_store_depth', 'Operations waiting for a transaction.', gauges.storeDepth),
      gauge('svc_mesh_long_polls', 'Requests waiting for messages.', gauges.longPolls),
    ])
  }

  #requests(): [labels: string, value: number][] {
    return [...this.#answers].flatMap(([operation, statuses]) =>
      [...statuses].map(([status, count]): [string, number] => [
        `{operation="${operation}",status="${status}"}`,
        count,
      ]),
    )
  }
}
