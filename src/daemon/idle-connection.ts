/** A connection that may be closed to make room for another one. */
export interface IdleCandidate {
  /** Whether it has no request and no subscription. */
  readonly isIdle: boolean
  /** When it last sent or received anything, by `performance.now()`. */
  readonly activeAt: number
}

/** How long a connection must be idle before it is closed for another one, ms. */
const idleAfterMs = 60_000

/** The connection that has been idle for the longest time, if that is long enough. */
export function longestIdle<T extends IdleCandidate>(connections: readonly T[], now: number): T | undefined {
  const [longest] = connections
    .filter(({isIdle, activeAt}) => isIdle && now - activeAt > idleAfterMs)
    .sort((a, b) => a.activeAt - b.activeAt)
  return longest
}
