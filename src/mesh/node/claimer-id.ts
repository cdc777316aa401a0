import os from 'node:os'

/** The settings that identify an orchestrator. */
export interface ClaimerSettings {
  nodeId?: string | undefined
  scopeId?: string | undefined
}

/** Id under which the orchestrator of this machine holds leases. */
export const claimerId = ({nodeId, scopeId}: ClaimerSettings, hostname = os.hostname()): string =>
  `orch-${nodeId || scopeId || `orchestrator-${hostname}`}`
