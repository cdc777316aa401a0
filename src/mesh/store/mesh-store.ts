import type {AuditEntry} from '../protocol/audit.js'
import type {ExecLease, LeaseVerification, Promotion} from '../protocol/lease.js'
import type {DeadMessage, DeadOutcome, Delivered, MessageDraft, QueueStats, StoredMessage} from '../protocol/message.js'
import type {Incarnation, NodeFacts} from '../protocol/node.js'
import type {PageQuery} from '../protocol/page-query.js'
import type {Replica} from '../protocol/replica.js'

/** Tenant whose rows an operation may access; empty if the control plane has no scope. */
export type Scope = string

/** Heartbeat of a node: changed facts and the sending process. */
export interface Heartbeat extends Partial<Incarnation> {
  facts: Partial<NodeFacts> & {id: string}
  /** True if the facts are a complete record, which can add an unknown node. */
  isFull: boolean
}

export interface HeartbeatOutcome {
  /** Updated record as JSON text, which the control plane forwards without parsing. */
  record: string
  /** Number of nodes in the scope, which determines the heartbeat interval. */
  nodeCount: number
}

export interface NodeQuery {
  limit: number
  /** Id of the last node of the previous page. */
  after?: string | undefined
  /** Return only id, version, last-seen time, labels and conditions. */
  isBrief?: boolean | undefined
  /** Only nodes that have all of these labels. */
  labels?: readonly string[] | undefined
  /** Only nodes seen at or after this time, Unix ms. */
  updatedSinceMs?: number | undefined
  /** Omit nodes that were last seen longer ago, ms; 0 for no limit. */
  staleAfterMs?: number | undefined
}

export interface NodePage {
  /** JSON texts of the records. */
  records: string[]
  /** Start of the next page, if there is one. */
  next?: string
}

/** Maintenance of a node: until a time (Unix ms), for a duration (ms), or until it is switched off. */
export interface Maintenance {
  on: boolean
  untilMs?: number | undefined
  forMs?: number | undefined
}

/** Lease and claimer as named in a request. */
export interface ClaimedLease {
  lease: string
  claimer: string
}

export interface ClaimQuery {
  receiver: string
  claimer: string
  /** Ids of messages to skip. */
  exclude?: readonly number[] | undefined
  /** Senders whose messages are skipped. */
  excludeSenders?: readonly string[] | undefined
  /** Only messages of these types. */
  types?: readonly string[] | undefined
}

export interface PeekQuery {
  receiver: string
  limit: number
  /** Only messages with a smaller id. */
  before?: number | undefined
  types?: readonly string[] | undefined
  /** Default: newest first. */
  order?: 'asc' | 'desc' | undefined
  /** Maximum total size of payloads, bytes; default 8 MiB. The first message is returned regardless of its size. */
  maxBytes?: number | undefined
}

/** Page of rows ordered by number, newest first. */
export interface Page<T> {
  rows: T[]
  /** Number of the last row, if there are more rows. */
  next?: number
}

/** True if messages may have arrived in an inbox. */
export type Arrival = (scope: Scope, receiver: string) => boolean

/** Number of objects in a scope. */
export interface Counts {
  /** Nodes that have not left. */
  nodes: number
  leases: number
  /** Pending and dead messages. */
  pending: number
  dead: number
}

export interface StoreLimits {
  /** Duration of leases and claims, ms. */
  leaseMs: number
  /** Maximum number of open messages per scope and per receiver. */
  maxMessages: number
  maxMessagesPerReceiver: number
  /** Maximum size of the files of a scope, bytes; default 256 MiB. */
  maxScopeBlobBytes?: number | undefined
}

/**
 * Storage of nodes, leases and messages. All drivers pass the same conformance suite.
 *
 * - A promise resolves when its changes are on disk, except heartbeats: a power failure, or a crash of a database server,
 *   may lose them. Nodes whose last heartbeat was lost count as just seen.
 * - All times are on the store's clock. It never goes back, and a step of the system clock does not end leases.
 * - Every operation is one transaction, including the checks of its node.
 * - Refusals are catalogue errors. Driver errors are reported as `store_unavailable` and change nothing; if a database
 *   server does not answer, the outcome is unknown, and the error is `store_outcome_unknown`.
 */
export interface MeshStore {
  readonly driver: 'sqlite' | 'postgres'
  /** Path of the file, or server and name of the database without user and password. */
  readonly place: string
  /** Current time of the store's clock, Unix ms; estimated if the store is on a server. Decisions do not depend on it. */
  now(): number

  /**
   * Adds a node or replaces its record; keeps maintenance and quarantine. Also counts as a heartbeat.
   * @returns record as JSON text
   * @throws duplicate_node_id if a newer process uses the id
   */
  join(scope: Scope, facts: NodeFacts, options?: Partial<Incarnation> & {maintenance?: Maintenance}): Promise<string>
  /**
   * Records a heartbeat. Ignores a late one, according to its incarnation and sequence number.
   * @throws node_not_found if the node is unknown and the record incomplete; duplicate_node_id
   */
  heartbeat(scope: Scope, heartbeat: Heartbeat): Promise<HeartbeatOutcome>
  /** Removes a node, ends its leases and releases its messages; keeps its quarantine. @throws node_not_found */
  leave(scope: Scope, node: string): Promise<void>
  listNodes(scope: Scope, query: NodeQuery): Promise<NodePage>
  /** Number of nodes that have not left; may be five seconds old if other processes use the store. */
  countNodes(scope: Scope): Promise<number>
  /** @throws node_not_found */
  setQuarantine(scope: Scope, node: string, on: boolean, actor: string): Promise<void>
  /** @throws node_not_found */
  setMaintenance(scope: Scope, node: string, maintenance: Maintenance, actor: string): Promise<void>

  /** @throws unknown_node, node_quarantined, node_maintenance, lease_held */
  grantLease(scope: Scope, claim: {scopeKey: string; claimer: string}): Promise<ExecLease>
  /** Also permitted in maintenance. @throws unknown_node, node_quarantined, lease_not_found, not_lease_holder */
  renewLease(scope: Scope, held: ClaimedLease): Promise<void>
  /** @throws unknown_node, lease_not_found, not_lease_holder */
  releaseLease(scope: Scope, held: ClaimedLease): Promise<void>
  /** @throws lease_not_found if it has ended or is on another key */
  verifyLease(scope: Scope, lease: {lease: string; scopeKey: string}): Promise<LeaseVerification>
  listLeases(scope: Scope): Promise<ExecLease[]>
  /** @throws lease_not_found */
  revokeLease(scope: Scope, lease: string, actor: string): Promise<void>

  /** @throws idempotency_key_reused, inbox_full */
  deliver(scope: Scope, draft: MessageDraft): Promise<Delivered>
  /** Reads the unacknowledged messages of a receiver, including claimed ones, without claiming. */
  peek(scope: Scope, query: PeekQuery): Promise<StoredMessage[]>
  /**
   * Claims the next message for a node. It is the one that the node holds already, or the first by priority and age
   * that the policy permits and whose requirements the record of the node meets. A node in maintenance or quarantine
   * gets none.
   * @throws unknown_node
   */
  claim(scope: Scope, query: ClaimQuery): Promise<StoredMessage | undefined>
  /** Also permitted in maintenance. @throws unknown_node, node_quarantined, message_not_found, not_lease_holder */
  renewClaim(scope: Scope, claim: {receiver: string; message: number; claimer: string}): Promise<void>
  /** Idempotent. @throws message_not_found; not_lease_holder if another node has claimed the message */
  ack(scope: Scope, ack: {receiver: string; message: number; claimer?: string | undefined}): Promise<void>
  /** Lists dead messages; `maxBytes` as for `peek`. */
  listDead(scope: Scope, query: PageQuery & Pick<PeekQuery, 'maxBytes'>): Promise<Page<DeadMessage>>
  /**
   * Returns dead messages to their inboxes and resets their attempts. Open messages do not change; acknowledged and
   * dropped ones are not found.
   * @throws inbox_full if the limits do not permit all of them; then none is changed
   */
  retryDead(scope: Scope, messages: readonly number[], actor: string): Promise<DeadOutcome>
  /** Drops dead messages but keeps their idempotency keys. Open messages are not found. Idempotent. */
  dropDead(scope: Scope, messages: readonly number[], actor: string): Promise<DeadOutcome>
  /** Counts pending messages of a receiver or of all receivers, up to `limit`. */
  countPending(scope: Scope, query: {receiver?: string | undefined; limit: number}): Promise<number>
  queueStats(scope: Scope): Promise<QueueStats>
  /**
   * Calls a listener when other processes may have made messages available. Notifications can be lost. Undefined if no
   * other process can use the store.
   */
  onArrival?(listener: (arrival: Arrival) => void): void

  /**
   * Stores a file for 24 hours. If it is stored already, only extends that time.
   * @param blob bytes with their SHA-256 in hexadecimal, which the caller has checked
   * @throws blobs_full
   */
  putBlob(scope: Scope, blob: {sha256: string; bytes: Uint8Array}): Promise<void>
  /** @throws blob_not_found */
  getBlob(scope: Scope, sha256: string): Promise<Buffer>

  /** Takes constant time in SQLite, except for leases, which are counted by an index scan. */
  counts(scope: Scope): Promise<Counts>

  /**
   * Skips fencing tokens after a failover of the database, whose standby may not know the last ones.
   * @throws promotion_unsupported if the store is a file
   */
  promote(scope: Scope, skip: number, actor: string): Promise<Promotion>
  listAudit(scope: Scope, query: PageQuery): Promise<Page<AuditEntry>>

  /**
   * Records the use of a token id until `keepUntilMs`. @returns false if it was already used
   * @throws overloaded if the limit of recorded ids is reached
   */
  useTokenId(id: string, keepUntilMs: number): Promise<boolean>
  /**
   * Consumes a bootstrap token, identified by its SHA-256 in hexadecimal. Survives restarts.
   * @throws bootstrap_consumed
   */
  useBootstrap(scope: Scope, digest: string, use: {expiresMs: number; by: string}): Promise<void>

  /** Lists the first control planes that have the store open, by age. */
  replicas(): Promise<Replica[]>
  /** Deletes a bounded number of expired rows, unless another process does so. @returns true if there are more */
  purge(): Promise<boolean>
  /** Checks that the database answers. @throws store_unavailable, store_outcome_unknown */
  check(): Promise<void>
  /** Number of operations that wait for a transaction. */
  readonly depth: number
  close(): Promise<void>
}
