import {isErrorOf, SvcError} from '../../errors/index.js'
import {readExchange} from '../protocol/admin-body.js'
import {readHeartbeat, readJoin, readLeave} from '../protocol/node-body.js'
import {readNodeQuery} from '../protocol/node-query.js'
import type {Scope} from '../store/mesh-store.js'
import {exchangeBootstrap} from './auth/bootstrap.js'
import {requireNode} from './auth/caller.js'
import {writeNodeList} from './node-list.js'
import type {Asked, Handlers} from './route.js'

/** Messages that the answer to a heartbeat counts; how many more there are makes no difference to the node. */
const mostPending = 100

/** Shortest time between two heartbeats of a node, ms: a quarter of the time after which a node counts as stale. */
const minIntervalMs = 15_000

/** When the next heartbeat of a node is due, ms, so that all of them together keep to a rate. */
export const heartbeatIntervalMs = (nodes: number, heartbeatsPerSec: number): number =>
  Math.max(minIntervalMs, Math.ceil((nodes / heartbeatsPerSec) * 1000))

/** Nodes get a token, come, are seen, and go. */
export const nodeRoutes: Handlers = {
  async bootstrap_exchange({body, caller}, {credentials, store, scope, grants}) {
    // The header says it all; a body is for those who want to say it twice.
    const {bootstrap_token: bootstrapToken} = readExchange(body === undefined ? {} : body)
    return JSON.stringify(await exchangeBootstrap(credentials, caller, {bootstrapToken}, {store, scope, grants}))
  },

  list_nodes: ({query}, context) => writeNodeList(readNodeQuery(query), context),

  async join({body, caller, reply}, {store, scope}) {
    const {facts, scope: given, maintenance, ...incarnation} = readJoin(body)
    requireScope(scope, given)
    requireNode(caller, facts.id)
    return store.join(scope, facts, {...incarnation, ...(maintenance && {maintenance})}).catch(warnOfDuplicate(reply))
  },

  async heartbeat({body, caller, reply}, {store, scope, pending, heartbeatsPerSec}) {
    const heartbeat = readHeartbeat(body)
    requireScope(scope, heartbeat.scope)
    requireNode(caller, heartbeat.facts.id)
    const {record, nodeCount} = await store.heartbeat(scope, heartbeat).catch(warnOfDuplicate(reply))
    const waiting = await pending.count(scope, heartbeat.receiver, mostPending)
    const nextMs = heartbeatIntervalMs(nodeCount, heartbeatsPerSec)
    // The record is text already, and goes on as it is.
    return `${record.slice(0, -1)},"next_heartbeat_ms":${nextMs},"server_time_unix_ms":${store.now()},"inbox_pending":${waiting}}`
  },

  async leave({body, caller}, {store, scope, waiters}) {
    const {id} = readLeave(body)
    requireNode(caller, id)
    await store.leave(scope, id)
    waiters.notifyAll()
    return undefined
  },
}

/** Two live processes with one id are a mistake that somebody should see, whichever client they use. */
const warnOfDuplicate = (reply: Asked['reply']) => (error: unknown) => {
  if (isErrorOf(error, 'duplicate_node_id')) reply.header('x-mesh-warning', 'duplicate-node-id')
  throw error
}

/**
 * A node that joins says which scope it means, where the control plane has one. Rows are never kept under what a body
 * says: a control plane without a scope ignores it.
 * @throws scope_mismatch
 */
function requireScope(scope: Scope, given: string | undefined): void {
  if (scope !== '' && given !== scope) throw new SvcError('scope_mismatch', {})
}
