import {conflict, notFound, rows, unavailable, usage} from '../row.js'

export const messageErrors = rows(() => ({
  message_not_found: notFound({
    message: (p: {message: string}) => `Message not found in this inbox: ${p.message}.`,
    hint: 'Read the inbox again. Name a durable message by its uuid, or by its id and the route db.',
  }),
  message_invalid: usage({
    message: (p: {fault: string}) => `The message cannot be sent: ${p.fault}.`,
    hint: 'Correct the message and send it again. Nothing was sent.',
  }),
  message_key_conflict: conflict({
    message: (p: {key: string; message: string}) =>
      `The idempotency key ${p.key} was used for message ${p.message}, which has different content.`,
    hint: 'Use another idempotency key for a different message. The default key is the correlation id.',
  }),
  message_claim_lost: conflict({
    message: (p: {message: string; owner: string}) => `Message ${p.message} is not claimed by ${p.owner}.`,
    hint: 'Claim it again; the claim expired or has another consumer name (SVC_A2A_CONSUMER_ID).',
  }),
  agent_session_mismatch: conflict({
    http: 403,
    message: (p: {agent: string}) => `Agent ${p.agent} belongs to another session.`,
    hint: 'Pass the session id of the agent.',
  }),
  mesh_not_configured: unavailable({
    message: () => 'No mesh is configured.',
    hint: 'Use the route local or db, or configure a mesh with svc mesh join.',
  }),
}))
