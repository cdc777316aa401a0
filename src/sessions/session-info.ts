import {excerpt} from '../errors/index.js'
import type {Session, Turn} from './session.js'

/** A session without its turns, as it is published. */
export interface SessionInfo {
  id: string
  agent_id: string
  tenant_id: string | null
  state: Session['state']
  turn_count: number
  token_count: number
  created_at: number
  last_active: number
}

export const sessionInfo = (session: Session): SessionInfo => ({
  id: session.id,
  agent_id: session.agent_id,
  tenant_id: session.tenant_id,
  state: session.state,
  turn_count: session.turn_count,
  token_count: session.total_tokens,
  created_at: session.created_at,
  last_active: session.last_active,
})

/** Maximum length of a turn in a summary, and of a summary, characters. */
const maxTurnLength = 200
const maxSummaryLength = 8000

/** A summary without a model: the beginning of each turn, one per line; the first lines are dropped if it is too long. */
export function summariseTurns(turns: readonly Turn[]): string {
  const lines = turns.map(
    ({role, content}) => `${role}: ${excerpt(content.replaceAll(/\s+/g, ' ').trim(), maxTurnLength)}`,
  )
  return lines.length === 0 ? 'No turns.' : lines.join('\n').slice(-maxSummaryLength)
}
