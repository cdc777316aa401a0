import type {MeshOperation, Role} from '../../mesh/index.js'

/** What a client showed: the token of a role, of which generation; or something that is no token at all. */
export interface Shown {
  role: Role | 'none' | 'garbage'
  /** Tokens are counted from 0, one up with every rotation. */
  generation: number
  /** A signed token: its id, and whether it was made for this scope. */
  signed?: {id: string; isForeign: boolean}
}

/** One request of a client, as the client saw it. Times are ms of the one monotonic clock of all clients. */
export interface Call {
  id: number
  who: string
  operation: MeshOperation
  shown: Shown
  /** What was asked, shortened. */
  args: Readonly<Record<string, unknown>>
  /** Before its first byte left. */
  sent: number
  /** After the answer was read whole, or when it was given up. */
  answered: number
  /** Undefined where no answer came: what became of it is not known. */
  status?: number
  /** Of a problem. */
  code?: string
  /** What was answered, shortened. */
  body?: Readonly<Record<string, unknown>>
  retryAfter?: string
  /** Why no answer came. */
  failure?: string
  /** A secret stood in the answer, which may be there in that of an exchange alone. */
  leaked?: true
}

/** A request as the proxy passed it on: none, one or two of each call. */
export interface Copy {
  /** When its last byte went to the server. */
  forwarded: number
  /** After which it has no effect any more; undefined where that is not known. */
  settled?: number
  /** What the server answered, whether or not the client got it. */
  status?: number
}

/** A call with what the proxy knows of it. */
export interface Observed extends Call {
  /** What the proxy did to it. */
  fault?: string
  copies: readonly Copy[]
}

/** Something that happened to the server, or to all of them. */
export interface RunEvent {
  /** Name of the fault: `kill`, `clock_forward`; `died` where the server ended by itself; `drain`, the end of a run. */
  event: string
  at: number
  /** When it was over. */
  until?: number
  [fact: string]: unknown
}

export type LogLine =
  | ({line: 'call'} & Call)
  | {line: 'passed'; id: number; fault?: string; copies: readonly Copy[]}
  | ({line: 'event'} & RunEvent)

/** A message as the database has it at the end. */
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

/** What the database file holds at the end. */
export interface Rows {
  messages: readonly MessageRow[]
  leases: readonly LeaseRow[]
  nodes: readonly NodeRow[]
  /** Answer of SQLite's own check of the file. */
  integrity: string
}

/** A secret that was found where it must not be. */
export interface Leak {
  file: string
  /** Which one: `worker-3`; never its text. */
  secret: string
}

/** Everything that is judged: what clients saw, what happened, and what is in the files. */
export interface History {
  /** In the order in which they were sent. */
  calls: readonly Observed[]
  events: readonly RunEvent[]
  rows: Rows
  leaks: readonly Leak[]
  /** How long a lease or a claim holds, ms. */
  leaseMs: number
  /** Messages that may wait. */
  maxMessages: number
  /** The scope of the control plane. */
  scope: string
}

export const messagesOf = ({body}: Call): {id: number}[] => (body?.messages ?? []) as {id: number}[]
