import os from 'node:os'

/** What identifies an orchestrator: the settings of its machine, and its workspace. */
export interface Claimer {
  nodeId?: string | undefined
  scopeId?: string | undefined
  repositoryId: string
}

/**
 * Node id under which the orchestrator of a workspace holds leases. Workspaces of one machine have different ids, because
 * a lease is held by one process.
 */
export const claimerId = ({nodeId, scopeId, repositoryId}: Claimer, hostname = os.hostname()): string =>
  `orch-${nodeId || scopeId || `orchestrator-${hostname}`}-${repositoryId.slice(0, 8)}`

/** Label of the records of claimers, which run no tasks. */
export const claimerLabel = 'role=orchestrator'
