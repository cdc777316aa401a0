import {SvcError} from '../errors/index.js'
import {type AgentRow, displayAgent} from '../tasks/index.js'

/** Whether the session of an agent vouches for who speaks for it. */
export interface IdentityBinding {
  sender_identity_binding: 'verified' | 'unbound'
  binding_advisory: string | null
}

/**
 * Holds whoever speaks for an agent to the agent's session; anybody may speak for one that has none.
 * @throws agent_session_mismatch where the session is another one, or is not named
 */
export function bindIdentity(
  {id, name, session_id: bound}: Pick<AgentRow, 'id' | 'name' | 'session_id'>,
  session: string | undefined,
): IdentityBinding {
  if (bound === null)
    return {
      sender_identity_binding: 'unbound',
      binding_advisory: `${name} (${displayAgent(id)}) has no session, so nothing vouches for who speaks for it.`,
    }
  if (session === bound) return {sender_identity_binding: 'verified', binding_advisory: null}
  throw new SvcError('agent_session_mismatch', {agent: name})
}
