import {isErrorOf} from '../errors/index.js'
import {type AgentRow, matchAgentId, requireAgent} from '../tasks/index.js'
import type {MessageContext} from './context.js'

/**
 * The agent whose inbox it is: one that is there, or by its id one that is retired, whose dead letters are still to be
 * read. The name of a retired one may be another's by now.
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
    matchAgentId(String(nameOrId)) ?? null,
    repositoryId,
  ])
