import type {FastifyReply} from 'fastify'
import type {StoredMessage} from '../protocol/message.js'
import {
  type InboxBody,
  maxMessagesPerPage,
  readAck,
  readClaimRenewal,
  readDead,
  readDeliver,
  readInbox,
} from '../protocol/message-body.js'
import {readPageQuery} from '../protocol/page-query.js'
import type {MeshStore, Scope} from '../store/mesh-store.js'
import {verifyAttestation} from './auth/attestation.js'
import {requireNode} from './auth/caller.js'
import {admitAgain} from './guard.js'
import {writeMessages} from './message-list.js'
import type {Handlers} from './route.js'

/** Messages between agents: delivered, waited for, claimed and acknowledged. */
export const inboxRoutes: Handlers = {
  async a2a_deliver({body, caller}, {store, scope, credentials, waiters}) {
    const {draft, attestation} = readDeliver(body)
    if (draft.sender_node_id !== undefined) requireNode(caller, draft.sender_node_id)
    else if (caller.node !== undefined) draft.sender_node_id = caller.node
    await verifyAttestation(credentials.resultKey, {...draft, ...attestation})
    const delivered = await store.deliver(scope, draft)
    if (delivered.duplicate === undefined) waiters.notify(draft.receiver_agent_id)
    return JSON.stringify(delivered)
  },

  async a2a_inbox({body, caller, reply}, context) {
    const {store, scope, waiters} = context
    const asked = readInbox(body)
    if (asked.claimer !== undefined) requireNode(caller, asked.claimer)
    let messages: readonly StoredMessage[] = []
    let {credentials} = context
    const look = async () => {
      if (credentials !== context.credentials) {
        // Whoever was let in by a secret that is no more gets nothing that comes after it.
        await admitAgain('a2a_inbox', reply.request, context)
        credentials = context.credentials
      }
      messages = await messagesFor(asked, store, scope)
      return messages.length > 0
    }
    const {receiver, claimer, waitMs, before} = asked
    // Messages that are older than one that was seen do not come any more.
    const isPast = claimer === undefined && before !== undefined
    if (waitMs === 0 || isPast) await look()
    else await waiters.poll(receiver, {takes: claimer !== undefined, look, waitMs, gone: clientGone(reply)})
    return writeMessages(messages)
  },

  async a2a_ack({body, caller}, {store, scope}) {
    const {receiver_agent_id: receiver, message_id: message, claimer_node_id} = readAck(body)
    if (claimer_node_id !== undefined) requireNode(caller, claimer_node_id)
    // A token that is bound to a node acknowledges as that node, whether or not the body says so.
    await store.ack(scope, {receiver, message, claimer: claimer_node_id ?? caller.node})
    return undefined
  },

  async a2a_lease_renew({body, caller}, {store, scope}) {
    const {receiver_agent_id: receiver, message_id: message, claimer_node_id: claimer} = readClaimRenewal(body)
    requireNode(caller, claimer)
    await store.renewClaim(scope, {receiver, message, claimer})
    return undefined
  },

  async a2a_dead_list({query}, {store, scope}) {
    const {rows, next} = await store.listDead(scope, readPageQuery(query, maxMessagesPerPage))
    return writeMessages(rows, next)
  },

  async a2a_dead_retry({body, caller}, {store, scope, waiters}) {
    const outcome = await store.retryDead(scope, readDead(body).message_ids, caller.id)
    waiters.notifyAll()
    return JSON.stringify(outcome)
  },

  async a2a_dead_drop({body, caller}, {store, scope}) {
    return JSON.stringify(await store.dropDead(scope, readDead(body).message_ids, caller.id))
  },

  async queue_stats(_asked, {store, scope}) {
    return JSON.stringify(await store.queueStats(scope))
  },
}

async function messagesFor(asked: InboxBody, store: MeshStore, scope: Scope): Promise<readonly StoredMessage[]> {
  const {receiver, claimer, exclude, types, limit, before, order} = asked
  if (claimer === undefined) return store.peek(scope, {receiver, limit, before, types, order})
  const message = await store.claim(scope, {receiver, claimer, exclude, types})
  return message === undefined ? [] : [message]
}

/** Aborts when the client has gone before its answer was whole. */
function clientGone({raw}: FastifyReply): AbortSignal {
  const gone = new AbortController()
  if (raw.destroyed) gone.abort()
  raw.once('close', () => {
    if (!raw.writableFinished) gone.abort()
  })
  return gone.signal
}
