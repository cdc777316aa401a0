import type {CreatedEvent, SessionEvent} from './event.js'
import type {Session} from './session.js'

/**
 * Applies an event to a session. Used for live changes and for replaying the journal, so that both produce the same
 * state. A session does not exist before its created event.
 */
export function applyEvent(session: Session | undefined, event: CreatedEvent): Session
export function applyEvent(session: Session, event: SessionEvent): Session
export function applyEvent(session: Session | undefined, event: SessionEvent): Session | undefined
export function applyEvent(session: Session | undefined, event: SessionEvent): Session | undefined {
  if (session === undefined) return event.event === 'created' ? begin(event) : undefined
  switch (event.event) {
    case 'created':
      return session
    case 'turn_added': {
      const {role, content, tokens, at} = event
      return {
        ...session,
        state: 'active',
        last_active: at,
        turns: [...session.turns, {role, content, tokens, at}],
        turn_count: session.turn_count + 1,
        total_tokens: session.total_tokens + tokens,
      }
    }
    case 'state_changed':
      // Another process may have added a turn between the timer check and this event; the turn takes precedence.
      return session.state === event.from ? {...session, state: event.to} : session
    case 'meta_updated':
      return {...session, last_active: event.at, meta: {...session.meta, [event.key]: event.value}}
    case 'plugin_state_updated':
      return {
        ...session,
        last_active: event.at,
        plugin_state: {...session.plugin_state, [event.plugin_id]: event.state},
      }
    case 'reset':
      return {...session, state: 'active', last_active: event.at, turns: []}
    case 'compacted': {
      const {summary, head = 0, tail = 0, at} = event
      const kept = session.turns
      const turns = [
        ...kept.slice(0, head),
        {role: 'system', content: summary, tokens: 0, at},
        ...kept.slice(kept.length - tail),
      ]
      return {...session, state: 'compacted', last_active: at, turns}
    }
    case 'expensive_op_recorded':
      return {...session, last_active: event.at, last_expensive_op_at: event.at}
  }
}

const begin = ({session_id, agent_id, tenant_id, created_at}: CreatedEvent): Session => ({
  id: session_id,
  agent_id,
  tenant_id,
  state: 'active',
  created_at,
  last_active: created_at,
  last_expensive_op_at: null,
  turns: [],
  meta: {},
  plugin_state: {},
  turn_count: 0,
  total_tokens: 0,
})
