import {clientGone} from '../../net/index.js'
import type {QueueReport, StoredMessage} from '../protocol/message.js'
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

/** Delivery, claims and acknowledgements of messages between agents, and dead messages. */
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
    const inbox = readInbox(body)
    if (inbox.claimer !== undefined) requireNode(caller, inbox.claimer)
    let messages: readonly StoredMessage[] = []
    let {credentials} = context
    const look = async () => {
      if (credentials !== context.credentials) {
        // A caller whose secret was replaced while waiting must not receive messages.
        await admitAgain('a2a_inbox', reply.request, context)
        credentials = context.credentials
      }
      messages = await messagesFor(inbox, store, scope)
      return messages.length > 0
    }
    const {receiver, claimer, waitMs, before} = inbox
    // Waiting is pointless for a page of older messages: no new ones can appear there.
    const isPast = claimer === undefined && before !== undefined
    if (waitMs === 0 || isPast) await look()
    else await waiters.poll(receiver, {takes: claimer !== undefined, look, waitMs, gone: clientGone(reply)})
    return writeMessages(messages)
  },

  async a2a_ack({body, caller}, {store, scope}) {
    const {receiver_agent_id: receiver, message_id: message, claimer_node_id} = readAck(body)
    if (claimer_node_id !== undefined) requireNode(caller, claimer_node_id)
    // A token bound to a node acknowledges as that node, even if the body does not name it.
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

  async queue_stats(_request, {store, scope}) {
    const [stats, replicas] = await Promise.all([store.queueStats(scope), store.replicas()])
    return JSON.stringify({...stats, replicas} satisfies QueueReport)
  },
}

async function messagesFor(inbox: InboxBody, store: MeshStore, scope: Scope): Promise<readonly StoredMessage[]> {
  const {receiver, claimer, exclude, excludeSenders, types, limit, before, order} = inbox
  if (claimer === undefined) return store.peek(scope, {receiver, limit, before, types, order})
  const message = await store.claim(scope, {receiver, claimer, exclude, excludeSenders, types})
  return message === undefined ? [] : [message]
}
