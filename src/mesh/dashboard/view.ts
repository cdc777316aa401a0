import type {NodeTrouble} from '../client/node-state.js'
import type {ExecLease} from '../protocol/lease.js'
import type {DeadMessage, QueueStats} from '../protocol/message.js'

export interface NodeRow {
  id: string
  version: string
  /** The gravest first; none: all is well. */
  conditions: readonly NodeTrouble[]
  /** Of the clock of the control plane. */
  last_seen_unix_ms: number
  maintenance_until_unix_ms?: number
  labels: readonly string[]
  /** In words: `2 GPUs`, `1 free`, `24 GiB`. */
  gpu: readonly string[]
  /** In words: `16 cores`, `x64`. */
  cpu: readonly string[]
  /** 0 to 100. */
  cpu_usage_pct?: number
}

/** A dead message as the page shows it, with the beginning of its payload. */
export type DeadRow = Pick<
  DeadMessage,
  'id' | 'sender_agent_id' | 'receiver_agent_id' | 'message_type' | 'dead_unix_ms' | 'payload'
>

/** A part of the state: what is known of it, and whether there is more; or why it is not shown. */
export type Part<T> = {known: T; truncated?: true} | {denied: string}

/** Everything that a page shows. A part is missing where nothing is known of it yet. */
export interface DashboardState {
  control: {
    url: string
    answers: boolean
    /** What went wrong the last time. */
    fault?: string
    /** When it answered last, of the clock of this machine. */
    answered_unix_ms?: number
  }
  nodes?: Part<readonly NodeRow[]>
  leases?: Part<readonly ExecLease[]>
  queue?: Part<QueueStats>
  dead?: Part<readonly DeadRow[]>
}

/** What has changed since another state: the rows that are others now, and all that is not about nodes. */
export interface StateChanges extends Omit<DashboardState, 'nodes'> {
  rows: readonly NodeRow[]
}

/** With the time that the times in it are compared with. */
export type Timed<T> = T & {
  /** Of the clock of the control plane. */
  clock_unix_ms: number
}
