import type {ExecLease} from '../protocol/lease.js'
import type {Incarnation, NodeFacts} from '../protocol/node.js'

/** What may differ from one call to the next. */
export interface CallOptions {
  signal?: AbortSignal | undefined
  /** Send it again where it may be, and what went wrong may pass; as the client was made where it is left out. */
  retry?: boolean | undefined
  /** Longest that one request may take. */
  timeoutMs?: number | undefined
}

export interface NodesRequest {
  /** Most rows of a page; every node where it is left out, up to what the control plane lists at once. */
  limit?: number | undefined
  /** `next_cursor` of the page before. */
  cursor?: string | undefined
  /** `brief` leaves out what only a program needs. */
  fields?: 'brief' | 'full' | undefined
  /** Nodes that have all of these. */
  labels?: readonly string[] | undefined
  /** Nodes heard of since then. */
  updatedSinceUnixMs?: number | undefined
}

/** A page of a list, the newest first. */
export interface PageRequest {
  /** Most rows of a page; as many as the control plane lists at once where it is left out. */
  limit?: number | undefined
  /** `next_cursor` of the page before, or the number of a row: only older ones are listed. */
  cursor?: string | number | undefined
}

/** What a node reports about itself when it joins. */
export type JoinRecord = NodeFacts & Partial<Incarnation> & {scope_id?: string | undefined}

/** A heartbeat: slim, or the whole record where something has changed. */
export type HeartbeatRecord = Partial<NodeFacts> & {id: string} & Partial<Incarnation> & {
    scope_id?: string | undefined
    /** The agent whose messages are counted in the answer. */
    receiver_agent_id?: string | undefined
  }

/** What a new node is given for its one-shot token. */
export interface BootstrapGrant {
  /** The token to keep, which is of the role that is named with it. */
  mesh_token: string
  role?: 'worker' | 'mesh'
  /** With it the node delivers, where its own token does not let it. */
  submitter_token?: string
  scope_id: string | null
}

export interface GrantRequest {
  scopeKey: string
  claimer: string
}

/** A lease, perhaps with the time at which it was given, by the clock that will end it. */
export type GrantedLease = ExecLease & {server_time_unix_ms?: number}

export interface HeldRequest {
  lease: string
  claimer: string
}

export interface MaintenanceRequest {
  node: string
  maintenance: boolean
  /** When it ends by itself: at a time, or after a while. */
  untilUnixMs?: number | undefined
  forMs?: number | undefined
}

export interface DeliverRequest {
  /** Decimal digits, both. */
  senderAgentId: string
  receiverAgentId: string
  messageType: string
  payload: string
  /** Without one the message is sent once, and nobody knows what became of it where no answer comes. */
  idempotencyKey?: string | undefined
  privacyClass?: string | undefined
  priority?: number | undefined
  taskKind?: string | undefined
  modelId?: string | undefined
  traceparent?: string | undefined
  jwePayload?: string | undefined
  payloadBlake3Hex?: string | undefined
  workerEd25519SigB64?: string | undefined
}

export interface InboxRequest {
  receiver: string
  /** Who claims; without one it is a look that takes nothing. */
  claimer?: string | undefined
  maxMessages?: number | undefined
  /** Only messages with a smaller id. */
  beforeMessageId?: number | undefined
  /** Longest that the answer may wait for a message to come. */
  waitMs?: number | undefined
  excludeMessageIds?: readonly number[] | undefined
  messageTypes?: readonly string[] | undefined
  order?: 'asc' | 'desc' | undefined
}

export interface AckRequest {
  receiver: string
  message: number
  /** Who has claimed it: then nobody's but its own. */
  claimer?: string | undefined
}

export interface RenewClaimRequest {
  receiver: string
  message: number
  claimer: string
}
