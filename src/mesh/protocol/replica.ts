/** A control plane that has the store open. */
export interface Replica {
  /** Random, new at every start. */
  id: string
  version: string
  host: string
  since_unix_ms: number
}

/** Maximum number of listed replicas. */
export const maxReplicas = 100
