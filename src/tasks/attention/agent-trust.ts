import type {WorkspaceContext} from '../../workspace/index.js'
import type {TrustTier} from '../agents/reliability.js'

/** The record of an agent, by name. */
export interface AgentTrust {
  trustTier: TrustTier
  /** 0 to 1. */
  trust: number
  /** Share of its tasks that were completed, 0 to 1. */
  successRate: number
  /** Number of tasks that it has finished. */
  observations: number
}

/** Trust in an agent without a record. */
const defaultTrust = 0.3

/** @param name undefined if the agent is not known */
export function agentTrust({store, repositoryId}: WorkspaceContext, name: string | undefined): AgentTrust {
  if (name === undefined) return {trustTier: 'untrusted', trust: defaultTrust, successRate: 0.5, observations: 0}
  const trust = store.get<{score: number; tier: TrustTier}>(
    'SELECT score, tier FROM agent_trust WHERE repository_id = ? AND agent_name = ?',
    [repositoryId, name],
  )
  const {completed, failed} = store.get<{completed: number; failed: number}>(
    `SELECT success_count AS completed, failure_count AS failed FROM reliability_scores
WHERE repository_id = ? AND entity_type = 'agent' AND entity_id = ?`,
    [repositoryId, name],
  ) ?? {completed: 0, failed: 0}
  const observations = completed + failed
  return {
    trustTier: trust?.tier ?? 'untrusted',
    trust: trust?.score ?? defaultTrust,
    successRate: observations === 0 ? 0.5 : completed / observations,
    observations,
  }
}
