import type {MeshOperation} from '../../mesh/index.js'

type Body = Record<string, unknown>

/** Maximum number of logged nodes per list. */
const maxNodes = 40

const only = (body: Body, names: readonly string[]): Body =>
  Object.fromEntries(names.flatMap((name) => (name in body ? [[name, body[name]]] : [])))

const ofNode = ['id', 'last_seen_unix_ms', 'server_time_unix_ms', 'memory_free_bytes', 'quarantined', 'maintenance']
const ofMessage = [
  'id',
  'receiver_agent_id',
  'idempotency_key',
  'payload',
  'lease_holder_node_id',
  'lease_expires_unix_ms',
  'delivery_attempts',
]

const rowsOf = (value: unknown): Body[] => (Array.isArray(value) ? (value as Body[]) : [])

/** Selects the logged part of a response: the input of the oracles, without tokens. */
const recorded: Partial<Record<MeshOperation, (body: Body) => Body>> = {
  join: (body) => only(body, ofNode),
  heartbeat: (body) => only(body, [...ofNode, 'next_heartbeat_ms', 'inbox_pending']),
  list_nodes: (body) => ({
    ...only(body, ['server_time_unix_ms', 'truncated', 'next_cursor', 'queue_depth']),
    count: rowsOf(body.nodes).length,
    nodes: rowsOf(body.nodes)
      .slice(0, maxNodes)
      .map((node) => only(node, ofNode)),
  }),
  exec_lease_list: (body) => ({leases: rowsOf(body.leases)}),
  a2a_inbox: (body) => ({messages: rowsOf(body.messages).map((message) => only(message, ofMessage))}),
  bootstrap_exchange: (body) => only(body, ['role', 'scope_id']),
}

/** @param text body of a successful or problem response */
export function recordedBody(operation: MeshOperation, text: string): Body | undefined {
  try {
    const body = JSON.parse(text) as Body
    return 'code' in body ? only(body, ['code', 'detail']) : (recorded[operation]?.(body) ?? body)
  } catch {
    return undefined
  }
}
