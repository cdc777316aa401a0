import type {ExecLease} from '../protocol/lease.js'
import type {CapabilityHints, Incarnation, NodeFacts} from '../protocol/node.js'

export interface CallOptions {
  signal?: AbortSignal | undefined
  /** Retry transient errors of a repeatable request; default: as set for the client. */
  retry?: boolean | undefined
  /** Timeout of one request, ms. */
  timeoutMs?: number | undefined
}

export interface NodesRequest {
  /** Maximum number of nodes per page; default: the maximum of the control plane. */
  limit?: number | undefined
  /** `next_cursor` of the previous page. */
  cursor?: string | undefined
  /** `brief` omits the details. */
  fields?: 'brief' | 'full' | undefined
  /** Only nodes that have all of these labels. */
  labels?: readonly string[] | undefined
  /** Only nodes seen since this time, Unix ms. */
  updatedSinceUnixMs?: number | undefined
}

/** Page of a list, newest first. */
export interface PageRequest {
  /** Maximum number of rows per page; default: the maximum of the control plane. */
  limit?: number | undefined
  /** `next_cursor` of the previous page, or the number of a row: lists only older rows. */
  cursor?: string | number | undefined
}

/** Record that a node reports when it joins. */
export type JoinRecord = NodeFacts & Partial<Incarnation> & {scope_id?: string | undefined}

/** Heartbeat: short, or with the full record if it has changed. */
export type HeartbeatRecord = Partial<NodeFacts> & {id: string} & Partial<Incarnation> & {
    scope_id?: string | undefined
    /** Agent whose messages are counted in the response. */
    receiver_agent_id?: string | undefined
  }

/** Tokens granted in exchange for a bootstrap token. */
export interface BootstrapGrant {
  /** Permanent token of the role `role`. */
  mesh_token: string
  role?: 'worker' | 'mesh'
  /** Token for deliveries, if `mesh_token` does not permit them. */
  submitter_token?: string
  scope_id: string | null
}

export interface GrantRequest {
  scopeKey: string
  claimer: string
}

/** Lease with the time of its grant on the store's clock, which decides its expiry. */
export type GrantedLease = ExecLease & {server_time_unix_ms?: number}

export interface HeldRequest {
  lease: string
  claimer: string
}

export interface MaintenanceRequest {
  node: string
  maintenance: boolean
  /** Automatic end: at a time (Unix ms) or after a duration (ms). */
  untilUnixMs?: number | undefined
  forMs?: number | undefined
}

export interface DeliverRequest {
  /** Agent ids are decimal digits. */
  senderAgentId: string
  receiverAgentId: string
  messageType: string
  payload: string
  /** Without a key, the request is not retried, and its outcome is unknown if no response arrives. */
  idempotencyKey?: string | undefined
  privacyClass?: string | undefined
  priority?: number | undefined
  taskKind?: string | undefined
  modelId?: string | undefined
  traceparent?: string | undefined
  jwePayload?: string | undefined
  /** Capabilities that a node must have to claim the message. */
  requirements?: CapabilityHints | undefined
  payloadBlake3Hex?: string | undefined
  workerEd25519SigB64?: string | undefined
}

export interface InboxRequest {
  receiver: string
  /** Node that claims a message; without it, messages are only read. */
  claimer?: string | undefined
  maxMessages?: number | undefined
  beforeMessageId?: number | undefined
  /** Maximum time to wait for a message, ms. */
  waitMs?: number | undefined
  excludeMessageIds?: readonly number[] | undefined
  /** Senders whose messages a claim skips; up to 64. */
  excludeSenderAgentIds?: readonly string[] | undefined
  messageTypes?: readonly string[] | undefined
  order?: 'asc' | 'desc' | undefined
}

export interface AckRequest {
  receiver: string
  message: number
  /** If set, the request fails when another node holds the claim. */
  claimer?: string | undefined
}

export interface RenewClaimRequest {
  receiver: string
  message: number
  claimer: string
}
