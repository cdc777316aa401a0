import type {MeshOperation, Role} from '../../mesh/index.js'

/** Credential that a client presented: a token of a role and generation, none, or an invalid token. */
export interface Credential {
  role: Role | 'none' | 'garbage'
  /** 0-based; each rotation creates the next generation. */
  generation: number
  /** Set for a signed token. `isForeign`: issued for another scope. */
  signed?: {id: string; isForeign: boolean}
}

/** Request as its client observed it. Times are ms of a monotonic clock shared by all clients. */
export interface Call {
  id: number
  who: string
  operation: MeshOperation
  shown: Credential
  /** Request body, shortened. */
  args: Readonly<Record<string, unknown>>
  /** Time before the first byte was sent. */
  sent: number
  /** Time after the complete response was read, or the client gave up. */
  answered: number
  /** Undefined if no response arrived; the request may still have taken effect. */
  status?: number
  /** Error code of a problem response. */
  code?: string
  body?: Readonly<Record<string, unknown>>
  retryAfter?: string
  /** Reason why no response arrived. */
  failure?: string
  /** Set for a request of an orchestrator or worker, which its proxy has read. */
  isObserved?: true
  /** Set if the response contained a secret. Only a bootstrap exchange may return one. */
  leaked?: true
}

/** Request forwarded by the proxy; each call has up to two copies. */
export interface Copy {
  /** Time when the last byte was sent to the server. */
  forwarded: number
  /** Time after which the request can no longer take effect; undefined if unknown. */
  settled?: number
  /** Status sent by the server, even if the client did not receive it. */
  status?: number
}

export interface Observed extends Call {
  /** Connection fault injected by the proxy. */
  fault?: string
  copies: readonly Copy[]
}

/** Event that affected the server or all clients. */
export interface RunEvent {
  /**
   * Name of the fault, such as `kill`. `died` if the server exited unexpectedly; `program_died` or `program_refused` if
   * an orchestrator or worker did. `drain` and `settle` at the end of a run.
   */
  event: string
  at: number
  until?: number
  [fact: string]: unknown
}

export type LogLine =
  | ({line: 'call'} & Call)
  | {line: 'passed'; id: number; fault?: string; copies: readonly Copy[]}
  | ({line: 'event'} & RunEvent)

/** Row of `mesh_messages` at the end of a run. */
export interface MessageRow {
  id: number
  scope_id: string
  sender: string
  receiver: string
  type: string
  payload: string
  idem_key: string | null
  holder: string | null
  lease_expires: number | null
  attempts: number
  acked_at: number | null
  dead_at: number | null
}

export interface LeaseRow {
  scope_id: string
  scope_key: string
  lease_id: number
  holder: string
  expires_at: number
  state: string
}

export interface NodeRow {
  scope_id: string
  node_id: string
  left_at: number | null
}

/** Contents of the database at the end of a run. */
export interface Rows {
  messages: readonly MessageRow[]
  leases: readonly LeaseRow[]
  nodes: readonly NodeRow[]
  /** Result of SQLite's `integrity_check`. */
  integrity: string
}

/** Task in the store of an orchestrator at the end of a run. */
export interface TaskRow {
  orchestrator: string
  id: number
  uid: string
  status: string
  /** Unique name of the task, which its runs record. */
  tag: string
  /** Run whose result was accepted. */
  run: string | null
  /** Lease under which a worker ran the accepted run; null if the orchestrator ran it. */
  lease: string | null
  /** Number of events that end the task. */
  ends: number
  /** Number of times that the orchestrator started the task itself. */
  starts: number
  /** Code of its last placement; null if there is none. */
  placement: string | null
}

/** Row of `mesh_delegations`: an attempt to run a task on another node. */
export interface DelegationRow {
  orchestrator: string
  task_uid: string
  idempotency_key: string
  state: string
  lease_id: string | null
  worker_node_id: string | null
}

/** Run of the command of a task, which the command itself records when it starts. */
export interface Run {
  tag: string
  run: string
  /** Name of the program that started the command. */
  where: string
}

/** What orchestrators and workers have done. */
export interface Delegated {
  tasks: readonly TaskRow[]
  delegations: readonly DelegationRow[]
  runs: readonly Run[]
}

/** Secret found in a file that must not contain it. */
export interface Leak {
  file: string
  /** Name of the secret, such as `worker-3`, never its value. */
  secret: string
}

/** Input of the oracles: calls, events and the contents of the files. */
export interface History {
  /** In the order of sending. */
  calls: readonly Observed[]
  events: readonly RunEvent[]
  rows: Rows
  delegated: Delegated
  leaks: readonly Leak[]
  /** Duration of leases and claims, ms. */
  leaseMs: number
  /** Capacity of an inbox. */
  maxMessages: number
  scope: string
  /**
   * Difference by which the times in responses of different servers may disagree, ms; 0 for one server. Servers of a
   * database estimate its time between their statements.
   */
  clockToleranceMs: number
}

export const messagesOf = ({body}: Call): {id: number}[] => (body?.messages ?? []) as {id: number}[]
