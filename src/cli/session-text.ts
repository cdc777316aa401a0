import type {OrchSessionInfoV1, OrchSessionV1} from '../contracts/index.js'
import {counted, oneLine} from '../errors/index.js'
import {plain, time} from './orch-text.js'
import {formatTable} from './table.js'

export const turns = (count: number): string => counted(count, 'turn')

/** @param width terminal width in characters; undefined: unlimited */
export function formatSessions(sessions: readonly OrchSessionInfoV1[], width?: number): string {
  if (sessions.length === 0) return 'No sessions. Create one with `svc orch session create AGENT`.\n'
  return formatTable(
    ['SESSION', 'AGENT', 'STATE', 'TURNS', 'TOKENS', 'CREATED', 'LAST ACTIVE'],
    sessions.map((session) => [
      session.id,
      oneLine(session.agent_id),
      session.state,
      String(session.turn_count),
      String(session.token_count),
      time(session.created_at * 1000),
      time(session.last_active * 1000),
    ]),
    width,
  )
}

/** A session with its latest turns. */
export function formatSession(session: OrchSessionV1): string {
  const facts = [
    ['agent', oneLine(session.agent_id)],
    ...(session.tenant_id === null ? [] : [['tenant', oneLine(session.tenant_id)]]),
    ['state', session.state],
    ['turns', `${session.turn_count}, ${counted(session.token_count, 'token')}`],
    ['created', time(session.created_at * 1000)],
    ['last active', time(session.last_active * 1000)],
    ...Object.entries(session.meta).map(([name, value]) => [oneLine(name), oneLine(value)]),
  ]
  const dialogue = session.turns.map(({role, content}) => `${oneLine(role)}: ${plain(content)}\n`)
  return [formatTable(['session', session.id], facts), ...dialogue].join('\n')
}
