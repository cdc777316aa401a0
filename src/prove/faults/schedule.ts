import type {Random} from './random.js'

/** Faults of the server and of the state that it holds. */
export const serverFaults = [
  /** Kills it at any time. */
  'kill',
  /** Kills it just after a request has reached it. */
  'kill_before_commit',
  /** Kills it just after it has sent a response, which is also lost. */
  'kill_after_commit',
  /** Restarts it gracefully under load. */
  'restart',
  /** Suspends it for up to twice the duration of a lease. */
  'freeze',
  /** Moves its wall clock by 4 s or an hour. */
  'clock_forward',
  'clock_back',
  /** Moves the clock while it is stopped. */
  'clock_across_restart',
  /** Rotates all tokens while requests are in flight. */
  'rotate_tokens',
  /** Sends a burst of heartbeats from many nodes. */
  'heartbeat_storm',
  /** Delivers messages until the inbox is full. */
  'flood',
] as const

/** Faults of the programs that delegate tasks and run them. */
export const peerFaults = [
  'orchestrator_kill',
  'worker_kill',
  /** Kills an orchestrator and a worker at the same time. */
  'joint_kill',
  /** Suspends it for up to twice the duration of a lease. */
  'orchestrator_freeze',
  'worker_freeze',
  /** Cuts it off the control plane for longer than a lease. */
  'orchestrator_cut',
  'worker_cut',
  /** Moves the wall clock of an orchestrator by up to an hour. */
  'orchestrator_clock',
  /** Puts a worker in quarantine for a while. */
  'worker_quarantine',
] as const

/** Faults of the PostgreSQL database of the control planes. */
export const databaseFaults = [
  /** Ends all connections to it. */
  'database_disconnect',
  /** Stops its server, and starts it again. */
  'database_restart',
  /** Moves the wall clock of its server by up to an hour. */
  'database_clock',
  /** Lets its server run out of disk space for a while. */
  'database_full',
] as const

export type ServerFault = (typeof serverFaults)[number]
export type PeerFault = (typeof peerFaults)[number]
export type DatabaseFault = (typeof databaseFaults)[number]
export type PlannableFault = ServerFault | PeerFault | DatabaseFault

export interface PlannedFault {
  fault: PlannableFault
  /** Delay after the end of the previous fault, ms. */
  afterMs: number
  /** Severity from 0 to 1: duration, size or delay, depending on the fault. */
  degree: number
}

/** Bounds of the delay between two faults, ms. */
const minQuietMs = 400
const maxQuietMs = 2600

/** Endless sequence of faults: each one once in random order, then all again in a new order. */
export function* planFaults(random: Random, faults: readonly PlannableFault[]): Generator<PlannedFault> {
  while (faults.length > 0)
    for (const fault of random.shuffle(faults))
      yield {fault, afterMs: random.integer(minQuietMs, maxQuietMs), degree: random.next()}
}
