import type {OrchSessionInfoV1, OrchSessionV1} from '../contracts/index.js'
import {counted, oneLine} from '../errors/index.js'
import {age, plain, time} from './cell-text.js'
import {formatFacts, formatTable, type TableView, wide, wrapped} from './table.js'

export const turns = (count: number): string => counted(count, 'turn')

export const formatSessions = (sessions: readonly OrchSessionInfoV1[], view?: TableView): string =>
  formatTable(
    ['SESSION', wrapped('AGENT'), 'STATE', 'TURNS', 'TOKENS', 'AGE', 'IDLE', wide('CREATED'), wide('LAST ACTIVE')],
    sessions.map((session) => [
      session.id,
      oneLine(session.agent_id),
      session.state,
      String(session.turn_count),
      String(session.token_count),
      age(session.created_at * 1000),
      age(session.last_active * 1000),
      time(session.created_at * 1000),
      time(session.last_active * 1000),
    ]),
    view,
    'No sessions. Create one with `svc orch session create AGENT`.',
  )

/** A session with its latest turns. */
export function formatSession(session: OrchSessionV1, width?: number): string {
  const facts = [
    ['session', session.id],
    ['agent', oneLine(session.agent_id)],
    ...(session.tenant_id === null ? [] : [['tenant', oneLine(session.tenant_id)]]),
    ['state', session.state],
    ['turns', `${session.turn_count}, ${counted(session.token_count, 'token')}`],
    ['created', time(session.created_at * 1000)],
    ['last active', time(session.last_active * 1000)],
    ...Object.entries(session.meta).map(([name, value]) => [oneLine(name), oneLine(value)]),
  ]
  const dialogue = session.turns.map(({role, content}) => `${oneLine(role)}: ${plain(content)}\n`)
  return [formatFacts(facts, width), ...dialogue].join('\n')
}
