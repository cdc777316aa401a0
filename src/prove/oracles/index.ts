import {bootstrapWorksOnce, rolesHold, scopesAreApart, signedTokensWorkOnce} from './access.js'
import {requestsAreAtomic} from './atomicity.js'
import {bannedGetsNothing} from './banned-nodes.js'
import {fullInboxRefuses, listsAreBounded} from './bounds.js'
import {clockIsItsOwn} from './clock-jumps.js'
import {neverAfterDeadline} from './deadlines.js'
import {endsOnce, oneRunCounts, relayedOnce} from './delegation.js'
import {tokensGrow} from './fencing.js'
import {keyHasOneMessage, keyIsNotReused} from './idempotency-keys.js'
import {lastSeenGrows} from './last-seen.js'
import {secretsStaySecret} from './leaks.js'
import {programsStayUp} from './liveness.js'
import {ackedIsOver, deliveredIsKept, pendingIsDelivered} from './message-loss.js'
import {oneClaimHolder, oneLeaseHolder} from './mutual-exclusion.js'
import {onlyHolderActs} from './only-holder-acts.js'
import type {Oracle} from './oracle.js'

interface Invariant {
  /** Statement that must always be true. */
  claim: string
  find: Oracle
}

/** Invariants of a mesh, which must hold under faults of its programs, the network and the clients. */
export const invariants = {
  'I-1': {claim: 'A key has at most one active lease.', find: oneLeaseHolder},
  'I-2': {claim: 'A message is claimed by at most one node at a time.', find: oneClaimHolder},
  'I-3': {claim: 'A message whose delivery was confirmed is never lost.', find: deliveredIsKept},
  'I-4': {claim: 'An acknowledged message is never delivered again.', find: ackedIsOver},
  'I-5': {claim: 'Fencing tokens of a key only increase and are never reused.', find: tokensGrow},
  'I-6': {claim: 'An idempotency key creates one message.', find: keyHasOneMessage},
  'I-7': {claim: 'A different message with a used idempotency key is refused.', find: keyIsNotReused},
  'I-8': {
    claim: 'Pending messages are delivered once faults stop, and end the wait for them.',
    find: pendingIsDelivered,
  },
  'I-9': {claim: 'A task ends once, and not with the result of an earlier delegation.', find: endsOnce},
  'I-10': {claim: 'One run of a task counts, and none happens without a start or a claim.', find: oneRunCounts},
  'I-11': {claim: 'A delegation sends one message, and a task that falls back keeps no lease.', find: relayedOnce},
  'I-12': {claim: 'Only the holder can renew, release and acknowledge, and only before expiry.', find: onlyHolderActs},
  'I-13': {claim: 'A node in quarantine or maintenance gets no leases and no messages.', find: bannedGetsNothing},
  'I-14': {claim: 'Each role can use exactly its own routes, even after a token rotation.', find: rolesHold},
  'I-15': {claim: 'A bootstrap token works once, and wrong guesses do not consume it.', find: bootstrapWorksOnce},
  'I-16': {claim: 'Single-use signed tokens are accepted once.', find: signedTokensWorkOnce},
  'I-17': {claim: 'The last-seen time of a node never decreases.', find: lastSeenGrows},
  'I-18': {claim: 'Nodes of another scope are never admitted.', find: scopesAreApart},
  'I-19': {claim: 'No log, response or database contains a secret.', find: secretsStaySecret},
  'I-20': {claim: 'A full inbox refuses new messages and drops none.', find: fullInboxRefuses},
  'I-21': {claim: 'Orchestrators and workers never act after their own deadlines.', find: neverAfterDeadline},
  'I-22': {claim: 'Clock jumps neither end leases early nor turn the server time back.', find: clockIsItsOwn},
  'I-23': {claim: 'A request has its full effect or none.', find: requestsAreAtomic},
  'I-25': {claim: 'Lists respect the requested limit.', find: listsAreBounded},
  alive: {claim: 'Programs exit only when they are stopped or refused.', find: programsStayUp},
} as const satisfies Readonly<Record<string, Invariant>>

export type InvariantId = keyof typeof invariants
