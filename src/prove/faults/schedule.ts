import type {Random} from './random.js'

/** What can happen to the server, or to all that it knows. */
export const serverFaults = [
  /** Killed at any moment. */
  'kill',
  /** Killed when a request has just reached it. */
  'kill_before_commit',
  /** Killed when an answer has just left it, which is lost too. */
  'kill_after_commit',
  /** Asked to end while requests come in, and started again. */
  'restart',
  /** Stands still for up to twice the time that a lease holds. */
  'freeze',
  /** Its wall clock jumps an hour ahead, or back. */
  'clock_forward',
  'clock_back',
  /** The clock jumps while it does not run. */
  'clock_across_restart',
  /** New tokens for everybody, while requests are on their way. */
  'rotate_tokens',
  /** Ten times as many heartbeats as usual. */
  'heartbeat_storm',
  /** Messages until no more are taken. */
  'flood',
] as const

export type ServerFault = (typeof serverFaults)[number]

export interface PlannedFault {
  fault: ServerFault
  /** After the one before is over, ms. */
  afterMs: number
  /** Where between its bounds it is, from 0 to 1: how long, how much, how soon. */
  degree: number
}

/** Between two faults, ms. */
const shortestQuietMs = 400
const longestQuietMs = 2600

/**
 * The faults of a seed, without end: every one of them once in an order of its own, then all of them again in another.
 * @param only of these; of all where it is left out
 */
export function* planFaults(random: Random, only: readonly ServerFault[] = serverFaults): Generator<PlannedFault> {
  while (only.length > 0)
    for (const fault of random.shuffle(only))
      yield {fault, afterMs: random.integer(shortestQuietMs, longestQuietMs), degree: random.next()}
}
