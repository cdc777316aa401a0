import type {Capabilities} from '../../workspace/index.js'

/** The members of a row of the node list that routing uses. */
export interface NodeRow {
  id: string
  capabilities?: Partial<Capabilities> | undefined
  last_seen_unix_ms: number
  maintenance?: boolean | undefined
  /** If absent, maintenance lasts until it is cleared. */
  maintenance_until_unix_ms?: number | undefined
  quarantined?: boolean | undefined
  gpu_total_count?: number | undefined
  gpu_healthy_count?: number | undefined
  gpu_allocatable_count?: number | undefined
  gpu_readiness_ok?: boolean | undefined
}

/** A stored row. */
export interface PolledNode extends NodeRow {
  /** This machine, which is not a remote node. */
  is_self?: true
}

/** The last poll of the mesh nodes: the nodes, or the reason why they are unknown. */
export type PolledNodes = {
  /** On the clock of this machine, Unix ms. */
  fetched_at_unix_ms: number
  /** Age from which the nodes are no longer used, ms. */
  usable_ms: number
} & (
  | {
      ok: true
      /** Time of the list on the clock of the control plane, which also sets the times in the rows, Unix ms. */
      listed_at_unix_ms: number
      schema_version: number
      /** Number of listed nodes, of which `nodes` contains at least some. */
      node_count: number
      nodes: readonly PolledNode[]
    }
  | {ok: false; error: string}
)
