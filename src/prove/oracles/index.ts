import {bootstrapWorksOnce, rolesHold, scopesAreApart, signedTokensWorkOnce} from './access.js'
import {requestsAreAtomic} from './atomicity.js'
import {bannedGetsNothing} from './banned-nodes.js'
import {fullInboxRefuses, listsAreBounded} from './bounds.js'
import {clockIsItsOwn} from './clock-jumps.js'
import {tokensGrow} from './fencing.js'
import {keyHasOneMessage, keyIsNotReused} from './idempotency-keys.js'
import {lastSeenGrows} from './last-seen.js'
import {secretsStaySecret} from './leaks.js'
import {serverStaysUp} from './liveness.js'
import {ackedIsOver, deliveredIsKept, pendingIsDelivered} from './message-loss.js'
import {oneClaimHolder, oneLeaseHolder} from './mutual-exclusion.js'
import {onlyHolderActs} from './only-holder-acts.js'
import type {Oracle} from './oracle.js'

interface Invariant {
  /** What is always so. */
  claim: string
  find: Oracle
}

/** What a mesh promises, whatever happens to its server, its network and its clients. */
export const invariants = {
  'I-1': {claim: 'A key has at most one lease that has not ended.', find: oneLeaseHolder},
  'I-2': {claim: 'A message is with at most one node at a time.', find: oneClaimHolder},
  'I-3': {claim: 'A message whose delivery was answered is never lost.', find: deliveredIsKept},
  'I-4': {claim: 'A message that was acknowledged never comes again.', find: ackedIsOver},
  'I-5': {claim: 'Fencing tokens of a key only grow, and none is used twice.', find: tokensGrow},
  'I-6': {claim: 'An idempotency key stands for one message.', find: keyHasOneMessage},
  'I-7': {claim: 'An idempotency key is refused to another message.', find: keyIsNotReused},
  'I-8': {claim: 'What waits is delivered once nothing goes wrong any more.', find: pendingIsDelivered},
  'I-12': {claim: 'Only the holder renews, releases and acknowledges, and only in time.', find: onlyHolderActs},
  'I-13': {claim: 'A node in quarantine or maintenance gets nothing new.', find: bannedGetsNothing},
  'I-14': {claim: 'Each role does what it may and no more, also after a rotation.', find: rolesHold},
  'I-15': {claim: 'A token for new nodes works once, and wrong ones do it no harm.', find: bootstrapWorksOnce},
  'I-16': {claim: 'Signed tokens that are good for one request are taken once.', find: signedTokensWorkOnce},
  'I-17': {claim: 'When a node was last seen never goes back.', find: lastSeenGrows},
  'I-18': {claim: 'Nodes of another scope are let in nowhere.', find: scopesAreApart},
  'I-19': {claim: 'No secret stands in a log, an answer or the database.', find: secretsStaySecret},
  'I-20': {claim: 'A full inbox refuses, and drops nothing.', find: fullInboxRefuses},
  'I-22': {claim: 'Clocks that jump neither end what is held nor turn the time back.', find: clockIsItsOwn},
  'I-23': {claim: 'A request has its whole effect or none.', find: requestsAreAtomic},
  'I-25': {claim: 'Lists stay as short as they were asked for.', find: listsAreBounded},
  alive: {claim: 'The server ends only when it is ended.', find: serverStaysUp},
} as const satisfies Readonly<Record<string, Invariant>>

export type InvariantId = keyof typeof invariants
