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

export type ServerFault = (typeof serverFaults)[number]

export interface PlannedFault {
  fault: ServerFault
  /** Delay after the end of the previous fault, ms. */
  afterMs: number
  /** Severity from 0 to 1: duration, size or delay, depending on the fault. */
  degree: number
}

/** Bounds of the delay between two faults, ms. */
const minQuietMs = 400
const maxQuietMs = 2600

/**
 * Endless sequence of faults: each one once in random order, then all again in a new order.
 * @param only faults to choose from; default: all
 */
export function* planFaults(random: Random, only: readonly ServerFault[] = serverFaults): Generator<PlannedFault> {
  while (only.length > 0)
    for (const fault of random.shuffle(only))
      yield {fault, afterMs: random.integer(minQuietMs, maxQuietMs), degree: random.next()}
}
