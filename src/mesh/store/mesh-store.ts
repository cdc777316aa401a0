import type {AuditEntry} from '../protocol/audit.js'
import type {ExecLease, LeaseVerification} from '../protocol/lease.js'
import type {DeadMessage, DeadOutcome, Delivered, MessageDraft, QueueStats, StoredMessage} from '../protocol/message.js'
import type {Incarnation, NodeFacts} from '../protocol/node.js'
import type {PageQuery} from '../protocol/page-query.js'

/** Whose rows an operation may see: the tenancy boundary; empty where the control plane has no scope. */
export type Scope = string

/** A heartbeat: what the node reports anew, and which of its processes sends it. */
export interface Heartbeat extends Partial<Incarnation> {
  facts: Partial<NodeFacts> & {id: string}
  /** The facts are those of a whole record: an unknown node is taken in. */
  isFull: boolean
}

export interface HeartbeatOutcome {
  /** The record as it is now, as JSON text: the control plane hands it on without reading it. */
  record: string
  /** Nodes that have joined the scope, for the interval that is given back. */
  nodeCount: number
}

export interface NodeQuery {
  /** Most rows of a page. */
  limit: number
  /** Id of the last node of the page before. */
  after?: string | undefined
  /** Only the members that a list for people needs: id, version, last_seen, labels, conditions. */
  isBrief?: boolean | undefined
  /** Nodes that have all of these labels. */
  labels?: readonly string[] | undefined
  /** Nodes heard of at or after this, Unix ms. */
  updatedSinceMs?: number | undefined
  /** Nodes not heard of for longer than this are left out, ms; 0 leaves out none. */
  staleAfterMs?: number | undefined
}

/** Nodes in the order of their ids. */
export interface NodePage {
  /** JSON text of a record, each. */
  records: string[]
  /** Where the next page starts, where there is one. */
  next?: string
}

/** How long a node is in maintenance: until a time, for a while (ms), or, with neither, until it is ended. */
export interface Maintenance {
  on: boolean
  untilMs?: number | undefined
  forMs?: number | undefined
}

export interface ClaimQuery {
  receiver: string
  claimer: string
  /** Messages that are passed over. */
  exclude?: readonly number[] | undefined
  /** Only messages of these types. */
  types?: readonly string[] | undefined
}

export interface PeekQuery {
  receiver: string
  limit: number
  /** Only messages older than this one. */
  before?: number | undefined
  types?: readonly string[] | undefined
  /** Newest first where it is left out. */
  order?: 'asc' | 'desc' | undefined
  /** Most bytes of payloads together, 8 MiB where it is left out; the first message comes however large it is. */
  maxBytes?: number | undefined
}

/** Rows in the order of their numbers, the newest first. */
export interface Page<T> {
  rows: T[]
  /** Number of the last row, where there are more. */
  next?: number
}

/** How much of everything a scope has. */
export interface Counts {
  /** Nodes that have joined and not left. */
  nodes: number
  leases: number
  /** Messages that wait for somebody, and those that were given up. */
  pending: number
  dead: number
}

export interface StoreLimits {
  /** How long leases and claims hold, ms. */
  leaseMs: number
  /** Messages of a scope that may wait, in all and for one receiver. */
  maxMessages: number
  maxMessagesPerReceiver: number
}

/**
 * Where a control plane keeps nodes, leases and messages. One interface, one conformance suite, several drivers.
 *
 * - A promise resolves when what it did is on the disk, but for heartbeats, which a loss of power may take.
 * - Time is that of the store alone: it never goes back, and a step of the machine's clock ends no lease.
 * - Every operation is one transaction, the checks of its node among it.
 * - What is refused is an error of the catalogue. A fault of the driver is `store_unavailable`, and has changed nothing.
 */
export interface MeshStore {
  readonly driver: 'sqlite'
  /** The clock of the store, Unix ms. */
  now(): number

  /**
   * Takes a node in, or replaces what it reported before; maintenance and quarantine are kept. Counts as a heartbeat.
   * @returns the record as JSON text
   * @throws duplicate_node_id where a newer process has the id
   */
  join(scope: Scope, facts: NodeFacts, options?: Partial<Incarnation> & {maintenance?: Maintenance}): Promise<string>
  /**
   * One that comes late, by its incarnation and sequence, changes nothing but is no error.
   * @throws node_not_found where an unknown node sends no whole record; duplicate_node_id
   */
  heartbeat(scope: Scope, heartbeat: Heartbeat): Promise<HeartbeatOutcome>
  /** Forgets a node, ends its leases, and releases its messages; its quarantine stays. @throws node_not_found */
  leave(scope: Scope, node: string): Promise<void>
  listNodes(scope: Scope, query: NodeQuery): Promise<NodePage>
  /** @throws node_not_found */
  setQuarantine(scope: Scope, node: string, on: boolean, actor: string): Promise<void>
  /** @throws node_not_found */
  setMaintenance(scope: Scope, node: string, maintenance: Maintenance, actor: string): Promise<void>

  /** @throws unknown_node, node_quarantined, node_maintenance, lease_held */
  grantLease(scope: Scope, claim: {scopeKey: string; claimer: string}): Promise<ExecLease>
  /** A node in maintenance keeps what it has. @throws unknown_node, node_quarantined, lease_not_found, not_lease_holder */
  renewLease(scope: Scope, held: {lease: string; claimer: string}): Promise<void>
  /** @throws unknown_node, lease_not_found, not_lease_holder */
  releaseLease(scope: Scope, held: {lease: string; claimer: string}): Promise<void>
  /** @throws lease_not_found where it has ended, or is on another key */
  verifyLease(scope: Scope, lease: {lease: string; scopeKey: string}): Promise<LeaseVerification>
  listLeases(scope: Scope): Promise<ExecLease[]>
  /** @throws lease_not_found */
  revokeLease(scope: Scope, lease: string, actor: string): Promise<void>

  /** @throws idempotency_key_reused, inbox_full */
  deliver(scope: Scope, draft: MessageDraft): Promise<Delivered>
  /** Messages of a receiver that are not acknowledged, claimed ones among them; nothing is claimed. */
  peek(scope: Scope, query: PeekQuery): Promise<StoredMessage[]>
  /**
   * The message a node is to work on next: the one it has already, else the first by priority and age that its policy
   * lets it have. A node in maintenance or quarantine gets none.
   * @throws unknown_node
   */
  claim(scope: Scope, query: ClaimQuery): Promise<StoredMessage | undefined>
  /** A node in maintenance keeps what it has. @throws unknown_node, node_quarantined, message_not_found, not_lease_holder */
  renewClaim(scope: Scope, claim: {receiver: string; message: number; claimer: string}): Promise<void>
  /** Again is the same as once. @throws message_not_found; not_lease_holder where another node has claimed it */
  ack(scope: Scope, ack: {receiver: string; message: number; claimer?: string | undefined}): Promise<void>
  /** Messages that were given up; a page has the size of a `peek` at most. */
  listDead(scope: Scope, query: PageQuery & Pick<PeekQuery, 'maxBytes'>): Promise<Page<DeadMessage>>
  /**
   * Puts dead messages back into their inboxes, with all their attempts before them. One that is in an inbox stays as it
   * is; one that was acknowledged or dropped is not found.
   * @throws inbox_full where the limits do not let all of them in; then none is
   */
  retryDead(scope: Scope, messages: readonly number[], actor: string): Promise<DeadOutcome>
  /** Removes dead messages; their idempotency keys stay. One that is in an inbox is not found. Again is the same as once. */
  dropDead(scope: Scope, messages: readonly number[], actor: string): Promise<DeadOutcome>
  /** Messages that wait for a receiver, or for anybody; counted no further than `limit`. */
  countPending(scope: Scope, query: {receiver?: string | undefined; limit: number}): Promise<number>
  queueStats(scope: Scope): Promise<QueueStats>
  /** Costs the same however many there are, but for leases, whose index is read. */
  counts(scope: Scope): Promise<Counts>

  listAudit(scope: Scope, query: PageQuery): Promise<Page<AuditEntry>>

  /**
   * Whether an id of a token is used for the first time; kept until `keepUntilMs`.
   * @throws overloaded where no more ids can be kept
   */
  useTokenId(id: string, keepUntilMs: number): Promise<boolean>
  /**
   * Uses up a bootstrap token, by its SHA-256 in hexadecimal: once, also after a restart.
   * @throws bootstrap_consumed
   */
  useBootstrap(scope: Scope, digest: string, use: {expiresMs: number; by: string}): Promise<void>

  /** Removes what has had its time, a bounded part at once. @returns whether there is more */
  purge(): Promise<boolean>
  /** Operations that wait for their transaction. */
  readonly depth: number
  close(): Promise<void>
}
