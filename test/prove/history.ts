import type {MeshOperation} from '../../src/mesh/index.js'
import type {
  DelegationRow,
  History,
  LeaseRow,
  MessageRow,
  NodeRow,
  Observed,
  Run,
  RunEvent,
  TaskRow,
} from '../../src/prove/history/history.js'
import type {InvariantId} from '../../src/prove/oracles/index.js'

/** Duration of leases in hand-written histories, ms. */
export const leaseMs = 1000

let lastId = 0

/** A call, by default with a duration of 10 ms, a response and one copy. */
export function call(operation: MeshOperation, facts: Partial<Observed> & {sent: number}): Observed {
  const {sent, answered = sent + 10, status} = facts
  return {
    id: ++lastId,
    who: 'somebody',
    operation,
    shown: {role: 'worker', generation: 0},
    args: {},
    answered,
    copies: [{forwarded: sent + 1, settled: answered, ...(status === undefined ? {} : {status})}],
    ...facts,
  }
}

/** A call without a response, which may have taken effect until `settled`. */
export const lost = (operation: MeshOperation, facts: Partial<Observed> & {sent: number}, settled: number): Observed =>
  call(operation, {failure: 'ECONNRESET', copies: [{forwarded: facts.sent + 1, settled}], ...facts})

export const grant = (node: string, key: string, lease: number, sent: number): Observed =>
  call('exec_lease_grant', {
    sent,
    status: 200,
    args: {claimer_node_id: node, scope_key: key},
    body: {lease_id: String(lease), fence_token: lease, scope_key: key, holder_node_id: node},
  })

type Held = 'exec_lease_renew' | 'exec_lease_release'
export const own = (operation: Held, node: string, lease: number, sent: number, status = 204): Observed =>
  call(operation, {sent, status, args: {lease_id: String(lease), claimer_node_id: node}})

export const claim = (node: string, message: number | undefined, sent: number): Observed =>
  call('a2a_inbox', {
    sent,
    status: 200,
    args: {receiver_agent_id: '1', claimer_node_id: node},
    body: {messages: message === undefined ? [] : [{id: message}]},
  })

type OfMessage = 'a2a_ack' | 'a2a_lease_renew'
export const ofMessage = (operation: OfMessage, node: string, message: number, sent: number, status = 204): Observed =>
  call(operation, {sent, status, args: {receiver_agent_id: '1', message_id: message, claimer_node_id: node}})

export const deliver = (
  message: number | undefined,
  sent: number,
  {payload = 'hello', key, status = 200}: {payload?: string; key?: string; status?: number} = {},
): Observed =>
  call('a2a_deliver', {
    sent,
    status,
    args: {
      sender_agent_id: '9',
      receiver_agent_id: '1',
      message_type: 'free_form',
      payload,
      ...(key === undefined ? {} : {idempotency_key: key}),
    },
    ...(message === undefined ? {} : {body: {accepted: true, message_id: message}}),
  })

/** Row of a pending message. */
export const messageRow = (id: number, facts: Partial<MessageRow> = {}): MessageRow => ({
  id,
  scope_id: 'prove',
  sender: '9',
  receiver: '1',
  type: 'free_form',
  payload: 'hello',
  idem_key: null,
  holder: null,
  lease_expires: null,
  attempts: 0,
  acked_at: null,
  dead_at: null,
  ...facts,
})

export const leaseRow = (id: number, facts: Partial<LeaseRow> = {}): LeaseRow => ({
  scope_id: 'prove',
  scope_key: 'task:a',
  lease_id: id,
  holder: 'node-1',
  expires_at: 0,
  state: 'expired',
  ...facts,
})

export const nodeRow = (id: string, facts: Partial<NodeRow> = {}): NodeRow => ({
  scope_id: 'prove',
  node_id: id,
  left_at: null,
  ...facts,
})

export interface Parts {
  calls?: Observed[]
  events?: RunEvent[]
  messages?: MessageRow[]
  leases?: LeaseRow[]
  nodes?: NodeRow[]
  integrity?: string
  leaks?: History['leaks']
  maxMessages?: number
  clockToleranceMs?: number
  tasks?: TaskRow[]
  delegations?: DelegationRow[]
  runs?: Run[]
}

export const historyOf = (parts: Parts): History => ({
  calls: (parts.calls ?? []).toSorted((a, b) => a.sent - b.sent),
  events: parts.events ?? [],
  rows: {
    messages: parts.messages ?? [],
    leases: parts.leases ?? [],
    nodes: parts.nodes ?? [],
    integrity: parts.integrity ?? 'ok',
  },
  delegated: {tasks: parts.tasks ?? [], delegations: parts.delegations ?? [], runs: parts.runs ?? []},
  leaks: parts.leaks ?? [],
  leaseMs,
  maxMessages: parts.maxMessages ?? 100,
  scope: 'prove',
  clockToleranceMs: parts.clockToleranceMs ?? 0,
})

/** A history and the expected violation; none if `broken` is omitted. */
export interface Case {
  invariant: InvariantId
  title: string
  parts: Parts
  broken?: RegExp
}
