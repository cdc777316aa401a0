import {command} from '../command.js'
import {conflict, notFound, oneLine, rows, unavailable, usage} from '../row.js'

export const messageErrors = rows(() => ({
  message_not_found: notFound({
    message: (p: {message: string}) => `Message ${p.message} does not exist in this inbox.`,
    hint: 'Run `svc a2a inbox AGENT` and use an id from the list.',
  }),
  message_invalid: usage({
    message: (p: {fault: string}) => `Cannot send the message: ${p.fault}.`,
    hint: 'Correct the message and send it again; nothing was sent.',
  }),
  message_key_conflict: conflict({
    message: (p: {key: string; message: string}) =>
      `The idempotency key ${p.key} was already used for message ${p.message}, which has different content.`,
    hint: 'Send the new message with a new key; without a key, the correlation id is the key.',
  }),
  message_claim_lost: conflict({
    // `holder` is the consumer that holds the message, if one does; `canForce`: it can be taken over.
    message: (p: {message: string; owner: string; holder: string | undefined; canForce: boolean}) =>
      p.holder === undefined
        ? `${oneLine(p.owner)} does not hold the claim on message ${p.message}.`
        : `${oneLine(p.holder)} holds the claim on message ${p.message}, not ${oneLine(p.owner)}.`,
    hint: (p: {message: string; owner: string; holder: string | undefined; canForce: boolean}) => {
      if (p.holder === undefined)
        return 'Claim the message again with `svc a2a inbox AGENT --claim --as OWNER`, and acknowledge it with the same --as.'
      const wait = `Leave the message to ${oneLine(p.holder)}, whose claim ends two minutes after it was made`
      return p.canForce
        ? `${wait}, or take it over with ${command`svc a2a ack AGENT ${p.message} --force`}.`
        : `${wait}.`
    },
  }),
  agent_session_mismatch: conflict({
    http: 403,
    message: (p: {agent: string}) => `The agent ${p.agent} is bound to a different session.`,
    hint: 'Pass the session of the agent with --session ID; `svc orch agents --json` shows it.',
  }),
  mesh_not_configured: unavailable({
    message: () => 'No mesh is configured to exchange messages with other machines.',
    hint: 'Use the route db or local, or set SVC_MESH_CONTROL_ADDR to the address of a control plane.',
  }),
}))
