import {isErrorOf} from '../../../errors/index.js'
import {readHeartbeat, readJoin, readLeave} from '../../protocol/read/node-body.js'
import {readNodeQuery} from '../../protocol/read/node-query.js'
import {requireNode} from '../auth/caller.js'
import {heartbeatIntervalMs} from '../heartbeat-interval.js'
import {writeNodeList} from '../node-list.js'
import type {Asked, Handlers} from '../route.js'
import {requireScope} from '../scope.js'

/** Messages that a heartbeat tells of; how many more there are makes no difference to the node. */
const mostPending = 100

/** Nodes come, are seen, and go. */
export const nodeRoutes: Handlers = {
  list_nodes: ({query}, context) => writeNodeList(readNodeQuery(query), context),

  async join({body, caller, reply}, {store, scope}) {
    const {facts, scope: given, maintenance, ...turn} = readJoin(body)
    requireScope(scope, given)
    requireNode(caller, facts.id)
    return store.join(scope, facts, {...turn, ...(maintenance && {maintenance})}).catch(warnOfDuplicate(reply))
  },

  async heartbeat({body, caller, reply}, {store, scope, pending, heartbeatsPerSec}) {
    const beat = readHeartbeat(body)
    requireScope(scope, beat.scope)
    requireNode(caller, beat.facts.id)
    const {record, nodeCount} = await store.heartbeat(scope, beat).catch(warnOfDuplicate(reply))
    const waiting = await pending.count(scope, beat.receiver, mostPending)
    const nextMs = heartbeatIntervalMs(nodeCount, heartbeatsPerSec)
    // The record is text already, and goes on as it is.
    return `${record.slice(0, -1)},"next_heartbeat_ms":${nextMs},"server_time_unix_ms":${store.now()},"inbox_pending":${waiting}}`
  },

  async leave({body, caller}, {store, scope, waiters}) {
    const {id} = readLeave(body)
    requireNode(caller, id)
    await store.leave(scope, id)
    waiters.tellAll()
    return undefined
  },
}

/** Two live processes with one id are a mistake that somebody should see, whichever client they use. */
const warnOfDuplicate = (reply: Asked['reply']) => (error: unknown) => {
  if (isErrorOf(error, 'duplicate_node_id')) reply.header('x-mesh-warning', 'duplicate-node-id')
  throw error
}
