import {isErrorOf} from '../errors/index.js'
import {type AgentRow, matchId, requireAgent} from '../tasks/index.js'
import type {MessageContext} from './context.js'

/**
 * Finds the agent of an inbox. A retired agent, whose dead letters can still be read, is only found by id, since its
 * name may have been reused.
 * @throws agent_not_found with the nearest name
 */
export function requireReceiver(context: MessageContext, nameOrId: string | number): AgentRow {
  try {
    return requireAgent(context, nameOrId)
  } catch (error) {
    const retired = isErrorOf(error, 'agent_not_found') ? findRetired(context, nameOrId) : undefined
    if (retired === undefined) throw error
    return retired
  }
}

const findRetired = ({store, repositoryId}: MessageContext, nameOrId: string | number): AgentRow | undefined =>
  store.get<AgentRow>("SELECT * FROM orch_agents WHERE id = ? AND repository_id = ? AND state = 'retired'", [
    matchId(String(nameOrId), 'A') ?? null,
    repositoryId,
  ])
