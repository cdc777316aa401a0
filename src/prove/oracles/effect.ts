import type {History, Observed, RunEvent} from '../history/history.js'

/** When a request can have done what it asked for, ms; `until` is Infinity where no end of it is known. */
export interface Effect {
  from: number
  until: number
}

/** Undefined where it certainly did nothing: it never arrived whole, or was refused each time. */
export function effectOf({sent, copies}: Observed): Effect | undefined {
  const acting = copies.filter(({status}) => status === undefined || status < 400)
  if (acting.length === 0) return undefined
  return {from: sent, until: Math.max(...acting.map(({settled = Infinity}) => settled))}
}

/** Its effect can have come after a moment. */
export const mayActAfter = (call: Observed, at: number): boolean => (effectOf(call)?.until ?? -Infinity) > at

/** Calls of some operations, in the order in which they were sent. */
export const callsOf = ({calls}: History, ...operations: readonly Observed['operation'][]): Observed[] =>
  calls.filter(({operation}) => operations.includes(operation))

/** Faults of a kind that were going on between two moments. */
export const eventsBetween = (
  {events}: History,
  from: number,
  to: number,
  isMeant: (event: RunEvent) => boolean,
): RunEvent[] => events.filter((event) => event.at <= to && (event.until ?? event.at) >= from && isMeant(event))

/** The server was started anew. */
export const isRestart = ({event}: RunEvent): boolean =>
  event.startsWith('kill') || ['restart', 'clock_across_restart', 'died'].includes(event)

export const wasRestarted = (history: History, before: Observed, now: Observed): boolean =>
  eventsBetween(history, before.sent, now.answered, isRestart).length > 0

/** What may lengthen a lease: a server that did not run, stood still, or found its clock changed. */
export const isDisturbance = (event: RunEvent): boolean =>
  isRestart(event) || event.event === 'freeze' || event.event.startsWith('clock')

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
export const numberOf = (value: unknown): number => (typeof value === 'number' ? value : Number.NaN)
