import {isErrorOf, SvcError} from '../../errors/index.js'
import {readExchange} from '../protocol/admin-body.js'
import {readHeartbeat, readJoin, readLeave} from '../protocol/node-body.js'
import {readNodeQuery} from '../protocol/node-query.js'
import type {Scope} from '../store/mesh-store.js'
import {exchangeBootstrap} from './auth/bootstrap.js'
import {requireNode} from './auth/caller.js'
import {cacheable} from './cacheable.js'
import {heartbeatIntervalMs, nextHeartbeatMs} from './heartbeat-interval.js'
import {writeNodeList} from './node-list.js'
import type {Handlers, RouteRequest} from './route.js'

/** Maximum number of pending messages reported to a heartbeat; higher counts make no difference to the node. */
const maxPending = 100

export const nodeRoutes: Handlers = {
  async bootstrap_exchange({body, caller}, {credentials, store, scope, grants}) {
    // The body is optional: the header contains the token.
    const {bootstrap_token: bootstrapToken} = readExchange(body === undefined ? {} : body)
    return JSON.stringify(await exchangeBootstrap(credentials, caller, {bootstrapToken}, {store, scope, grants}))
  },

  list_nodes: async ({query, reply}, context) => cacheable(reply, await writeNodeList(readNodeQuery(query), context)),

  async join({body, caller, reply}, context) {
    const {store, scope} = context
    const {facts, scope: requested, maintenance, ...incarnation} = readJoin(body)
    requireScope(scope, requested)
    requireNode(caller, facts.id)
    const options = {...incarnation, ...(maintenance && {maintenance})}
    const record = await store.join(scope, facts, options).catch(warnOfDuplicate(reply))
    return `${record.slice(0, -1)},"next_heartbeat_ms":${await nextHeartbeatMs(context)}}`
  },

  async heartbeat({body, caller, reply}, {store, scope, pending, heartbeatsPerSec}) {
    const heartbeat = readHeartbeat(body)
    requireScope(scope, heartbeat.scope)
    requireNode(caller, heartbeat.facts.id)
    const {record, nodeCount} = await store.heartbeat(scope, heartbeat).catch(warnOfDuplicate(reply))
    const count = await pending.count(scope, heartbeat.receiver, maxPending)
    const nextMs = heartbeatIntervalMs(nodeCount, heartbeatsPerSec)
    // Append to the record text instead of parsing it.
    return `${record.slice(0, -1)},"next_heartbeat_ms":${nextMs},"server_time_unix_ms":${store.now()},"inbox_pending":${count}}`
  },

  async leave({body, caller}, {store, scope, waiters}) {
    const {id} = readLeave(body)
    requireNode(caller, id)
    await store.leave(scope, id)
    waiters.notifyAll()
    return undefined
  },
}

/** Reports two live processes with the same node id in a header, for clients that ignore the error body. */
const warnOfDuplicate = (reply: RouteRequest['reply']) => (error: unknown) => {
  if (isErrorOf(error, 'duplicate_node_id')) reply.header('x-mesh-warning', 'duplicate-node-id')
  throw error
}

/**
 * Requires a node to name the scope of the control plane, if it has one. Rows are always stored under the scope of the
 * control plane, not that of the body.
 * @throws scope_mismatch
 */
function requireScope(scope: Scope, requested: string | undefined): void {
  if (scope !== '' && requested !== scope) throw new SvcError('scope_mismatch', {})
}
