import {SvcError} from '../errors/index.js'
import {type AgentRow, displayAgent} from '../tasks/index.js'

/** Whether a session verifies the identity of the sender. */
export interface IdentityBinding {
  sender_identity_binding: 'verified' | 'unbound'
  binding_advisory: string | null
}

/**
 * Checks the session of a caller against that of the agent; an agent without a session accepts any caller.
 * @throws agent_session_mismatch if the session differs or is missing
 */
export function bindIdentity(
  {id, name, session_id: bound}: Pick<AgentRow, 'id' | 'name' | 'session_id'>,
  session: string | undefined,
): IdentityBinding {
  if (bound === null)
    return {
      sender_identity_binding: 'unbound',
      binding_advisory: `${name} (${displayAgent(id)}) has no session, so the sender's identity is not verified.`,
    }
  if (session === bound) return {sender_identity_binding: 'verified', binding_advisory: null}
  throw new SvcError('agent_session_mismatch', {agent: name})
}
