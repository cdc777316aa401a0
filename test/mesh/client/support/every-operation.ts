import {type MeshClient, type MeshOperation, routes} from '../../../../src/mesh/index.js'

/** Call of an operation, its expected request, and a valid response. */
export interface Exchange {
  ask(client: MeshClient): Promise<unknown>
  body?: object
  /** Content type of a body that is not JSON. */
  type?: string
  answer?: object
}

/** An empty file and its SHA-256. */
const file = Buffer.alloc(0)
export const sha256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'

const node = {id: 'node-a', version: '1.0.0', capabilities: {cpu_cores: 4}}
const held = {lease: '17', claimer: 'node-a'}
const heldBody = {lease_id: '17', claimer_node_id: 'node-a'}
const lease = {lease_id: '17', fence_token: 17, scope_key: 'task:1', holder_node_id: 'node-a', expires_unix_ms: 9e12}

export const everyOperation: Readonly<Record<MeshOperation, Exchange>> = {
  health: {ask: (client) => client.health()},
  metrics: {ask: (client) => client.metrics()},
  list_nodes: {ask: (client) => client.listNodes(), answer: {schema_version: 1, nodes: []}},
  join: {ask: (client) => client.join(node), body: node, answer: {...node, last_seen_unix_ms: 1}},
  heartbeat: {
    ask: (client) => client.heartbeat({id: 'node-a', incarnation: 5, seq: 2}),
    body: {id: 'node-a', incarnation: 5, seq: 2},
    answer: {...node, last_seen_unix_ms: 1, next_heartbeat_ms: 15_000},
  },
  leave: {ask: (client) => client.leave('node-a'), body: {id: 'node-a'}},
  bootstrap_exchange: {
    ask: (client) => client.exchangeBootstrap('one-shot-token', {node: 'node-a'}),
    body: {bootstrap_token: 'one-shot-token', node_id: 'node-a'},
    answer: {mesh_token: 'kept-token', scope_id: null},
  },
  exec_lease_grant: {
    ask: (client) => client.grantLease({scopeKey: 'task:1', claimer: 'node-a'}),
    body: {scope_key: 'task:1', claimer_node_id: 'node-a'},
    answer: lease,
  },
  exec_lease_renew: {ask: (client) => client.renewLease(held), body: heldBody},
  exec_lease_release: {ask: (client) => client.releaseLease(held), body: heldBody},
  exec_lease_verify: {
    ask: (client) => client.verifyLease({lease: '17', scopeKey: 'task:1'}),
    body: {lease_id: '17', scope_key: 'task:1'},
    answer: {valid: true, holder_node_id: 'node-a', expires_unix_ms: 9e12, server_time_unix_ms: 1},
  },
  exec_lease_list: {ask: (client) => client.listLeases(), answer: {leases: [lease]}},
  admin_exec_lease_revoke: {ask: (client) => client.revokeLease('17'), body: {lease_id: '17'}},
  admin_quarantine: {
    ask: (client) => client.setQuarantine({node: 'node-a', quarantined: true}),
    body: {node_id: 'node-a', quarantined: true},
  },
  admin_maintenance: {
    ask: (client) => client.setMaintenance({node: 'node-a', maintenance: true, forMs: 600_000}),
    body: {node_id: 'node-a', maintenance: true, maintenance_for_ms: 600_000},
  },
  admin_store_promote: {
    ask: (client) => client.promoteStore(1_000_000),
    body: {skip_tokens: 1_000_000},
    answer: {fence_token: 1_000_017},
  },
  admin_audit_list: {
    ask: (client) => client.listAudit(),
    answer: {
      entries: [{id: 3, at_unix_ms: 1, actor: 'ann', action: 'node.quarantine', target: 'n', detail: {on: true}}],
    },
  },
  a2a_deliver: {
    ask: (client) =>
      client.deliver({senderAgentId: '1', receiverAgentId: '2', messageType: 'free_form', payload: 'hello'}),
    body: {sender_agent_id: '1', receiver_agent_id: '2', message_type: 'free_form', payload: 'hello'},
    answer: {accepted: true, message_id: 7},
  },
  a2a_inbox: {
    ask: (client) => client.inbox({receiver: '2', claimer: 'node-a', excludeMessageIds: [3]}),
    body: {receiver_agent_id: '2', claimer_node_id: 'node-a', exclude_message_ids: [3]},
    answer: {messages: []},
  },
  a2a_ack: {
    ask: (client) => client.ack({receiver: '2', message: 7, claimer: 'node-a'}),
    body: {receiver_agent_id: '2', message_id: 7, claimer_node_id: 'node-a'},
  },
  a2a_lease_renew: {
    ask: (client) => client.renewClaim({receiver: '2', message: 7, claimer: 'node-a'}),
    body: {receiver_agent_id: '2', message_id: 7, claimer_node_id: 'node-a'},
  },
  a2a_dead_list: {ask: (client) => client.listDead(), answer: {messages: []}},
  a2a_dead_retry: {
    ask: (client) => client.retryDead([7, 9]),
    body: {message_ids: [7, 9]},
    answer: {message_ids: [7], not_found: [9]},
  },
  a2a_dead_drop: {
    ask: (client) => client.dropDead([7]),
    body: {message_ids: [7]},
    answer: {message_ids: [7], not_found: []},
  },
  blob_put: {ask: (client) => client.putBlob(file), type: 'application/octet-stream'},
  blob_get: {ask: (client) => client.getBlob(sha256)},
  queue_stats: {
    ask: (client) => client.queueStats(),
    answer: {pending_count: 0, pending_by_kind: {}, pending_by_priority: {}, dead_count: 0},
  },
}

export const operationNames = Object.keys(routes) as MeshOperation[]
