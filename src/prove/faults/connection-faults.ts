import type {Random} from './random.js'

/** What can happen to a request between a client and the server. */
export const connectionFaults = [
  /** It never arrives. */
  'drop_before',
  /** It arrives, and its answer is lost. */
  'drop_after',
  /** It arrives late, or its answer does. */
  'delay',
  /** It arrives twice, the second time on a connection of its own. */
  'duplicate',
  /** A later one overtakes it. */
  'reorder',
  /** The client says that it will send no more, and waits for the answer. */
  'half_close',
  /** The connection ends in the middle of it. */
  'cut',
] as const

export type ConnectionFault = (typeof connectionFaults)[number]

/** How often each happens, of 1. */
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

/** Nothing happens to any request. */
export const noFaults = Object.fromEntries(connectionFaults.map((fault) => [fault, 0])) as FaultRates

/** What happens to the next request: mostly nothing. */
export function drawFault(random: Random, rates: FaultRates): ConnectionFault | undefined {
  const sum = Object.values(rates).reduce((all, rate) => all + rate, 0)
  return random.chance(sum) ? random.weighted(rates) : undefined
}
