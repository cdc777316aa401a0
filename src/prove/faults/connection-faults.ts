import type {Random} from './random.js'

/** Faults of the connection between a client and the server. */
export const connectionFaults = [
  /** The request is lost. */
  'drop_before',
  /** The response is lost. */
  'drop_after',
  /** The request or the response is delayed. */
  'delay',
  /** The request arrives twice, on separate connections. */
  'duplicate',
  /** A later request overtakes it. */
  'reorder',
  /** The client closes its sending side and waits for the response. */
  'half_close',
  /** The connection breaks in the middle of the request. */
  'cut',
] as const

export type ConnectionFault = (typeof connectionFaults)[number]

/** Probability of each fault, from 0 to 1. */
export type FaultRates = Readonly<Record<ConnectionFault, number>>

export const usualRates: FaultRates = {
  drop_before: 0.015,
  drop_after: 0.02,
  delay: 0.02,
  duplicate: 0.02,
  reorder: 0.015,
  half_close: 0.01,
  cut: 0.01,
}

export const noFaults = Object.fromEntries(connectionFaults.map((fault) => [fault, 0])) as FaultRates

/** Draws the fault of the next request; usually undefined. */
export function drawFault(random: Random, rates: FaultRates): ConnectionFault | undefined {
  const sum = Object.values(rates).reduce((all, rate) => all + rate, 0)
  return random.chance(sum) ? random.weighted(rates) : undefined
}
