import type {CreatedEvent, SessionEvent} from './event.js'
import type {Session} from './session.js'

/**
 * A session after one more event. The only way in which sessions change, while they are used and when their journal is
 * read again: so both give the same. There is no session until the event that creates it.
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
      // A turn of another process may have come between the look at the timer and this event; the turn wins.
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
      const {summary, at} = event
      const turns = [{role: 'system', content: summary, tokens: 0, at}]
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
