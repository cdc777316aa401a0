import {conflict, notFound, rows, unavailable, usage} from '../row.js'

export const messageErrors = rows(() => ({
  message_not_found: notFound({
    message: (p: {message: string}) => `There is no message ${p.message} in this inbox.`,
    hint: 'Read the inbox again, and name a durable message by its uuid, or by its id with the route db.',
  }),
  message_invalid: usage({
    message: (p: {fault: string}) => `The message cannot be sent: ${p.fault}.`,
    hint: 'Nothing was sent; put it right and send it again.',
  }),
  message_key_conflict: conflict({
    message: (p: {key: string; message: string}) =>
      `The key ${p.key} belongs to the message ${p.message}, which says something else.`,
    hint: 'Send another message under an idempotency key of its own; without one, its correlation id is its key.',
  }),
  message_claim_lost: conflict({
    message: (p: {message: string; owner: string}) => `The message ${p.message} is not claimed by ${p.owner}.`,
    hint: 'Its claim has ended, or was made under another name; SVC_A2A_CONSUMER_ID says for whom messages are claimed.',
  }),
  agent_session_mismatch: conflict({
    http: 403,
    message: (p: {agent: string}) => `The agent ${p.agent} has a session, and this is not it.`,
    hint: 'Name the session of the agent to speak for it.',
  }),
  mesh_not_configured: unavailable({
    message: () => 'No mesh is configured that could carry messages to other machines.',
    hint: 'Take the route local within this process, or db between the processes of this machine.',
  }),
}))
