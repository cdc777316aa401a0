import type {NodeState} from '../client/node-state.js'
import type {ExecLease} from '../protocol/lease.js'
import type {DeadMessage, QueueStats} from '../protocol/message.js'

export interface NodeRow {
  id: string
  version: string
  /** Most severe first; empty if the node is OK. */
  conditions: readonly Exclude<NodeState, 'ok'>[]
  /** On the control plane's clock. */
  last_seen_unix_ms: number
  maintenance_until_unix_ms?: number
  labels: readonly string[]
  /** Texts such as `2 GPUs`, `1 free` or `24 GiB`. */
  gpu: readonly string[]
  /** Texts such as `16 cores` or `x64`. */
  cpu: readonly string[]
  /** 0 to 100. */
  cpu_usage_pct?: number
  /** Number of tasks of other machines that the node runs. */
  running_tasks?: number
}

/** Dead message with the start of its payload. */
export type DeadRow = Pick<
  DeadMessage,
  'id' | 'sender_agent_id' | 'receiver_agent_id' | 'message_type' | 'dead_unix_ms' | 'payload'
>

/** Part of the state, or the reason why the token may not read it. */
export type Part<T> = {known: T; truncated?: true} | {denied: string}

/** Data of the page. A part is missing until it has been read. */
export interface DashboardState {
  control: {
    url: string
    answers: boolean
    /** Message of the last error. */
    fault?: string
    /** Local time of the last response, Unix ms. */
    answered_unix_ms?: number
  }
  nodes?: Part<readonly NodeRow[]>
  leases?: Part<readonly ExecLease[]>
  queue?: Part<QueueStats>
  dead?: Part<readonly DeadRow[]>
}

/** Changes since another state: the changed node rows, and all other parts. */
export interface StateChanges extends Omit<DashboardState, 'nodes'> {
  rows: readonly NodeRow[]
}

/** Data with the reference time for its timestamps. */
export type Timed<T> = T & {
  /** On the control plane's clock. */
  clock_unix_ms: number
}
