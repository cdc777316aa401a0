import type {History, Observed, RunEvent} from '../history/history.js'

/** Interval in which a request may have taken effect, ms. `until` is Infinity if its end is unknown. */
export interface Effect {
  from: number
  until: number
}

/** Undefined if the request certainly had no effect: it never arrived completely, or every copy was refused. */
export function effectOf({sent, copies}: Observed): Effect | undefined {
  const acting = copies.filter(({status}) => status === undefined || status < 400)
  if (acting.length === 0) return undefined
  return {from: sent, until: Math.max(...acting.map(({settled = Infinity}) => settled))}
}

export const mayActAfter = (call: Observed, at: number): boolean => (effectOf(call)?.until ?? -Infinity) > at

/** Calls of some operations, in the order of sending. */
export const callsOf = ({calls}: History, ...operations: readonly Observed['operation'][]): Observed[] =>
  calls.filter(({operation}) => operations.includes(operation))

/** Matching events that overlap an interval. */
export const eventsBetween = (
  {events}: History,
  from: number,
  to: number,
  matches: (event: RunEvent) => boolean,
): RunEvent[] => events.filter((event) => event.at <= to && (event.until ?? event.at) >= from && matches(event))

export const isRestart = ({event}: RunEvent): boolean =>
  event.startsWith('kill') || ['restart', 'clock_across_restart', 'died', 'database_restart'].includes(event)

export const wasRestarted = (history: History, before: Observed, now: Observed): boolean =>
  eventsBetween(history, before.sent, now.answered, isRestart).length > 0

/** Age of the time that servers of a database last saved or read, ms. */
const savedEveryMs = 2000

/**
 * True if the time of a store may have gone back by up to two seconds between calls. Either servers have lost the last
 * time, or the clock of their database has stepped, which they notice one after another.
 */
export const mayLoseTime = (history: History, before: Observed, now: Observed): boolean =>
  wasRestarted(history, before, now) ||
  eventsBetween(history, before.sent - savedEveryMs, now.answered, ({event}) => event === 'database_clock').length > 0

/** Events that may extend leases: a server or its database was stopped or suspended, or its clock was changed. */
export const isDisturbance = (event: RunEvent): boolean =>
  isRestart(event) || event.event === 'freeze' || /^(clock|database)_/.test(event.event)

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
export const numberOf = (value: unknown): number => (typeof value === 'number' ? value : Number.NaN)
