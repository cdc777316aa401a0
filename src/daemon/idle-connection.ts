/** Connection that may be closed in favour of a new one. */
export interface IdleCandidate {
  /** True if it has no requests and no subscriptions. */
  readonly isIdle: boolean
  /** Last input or output, by `performance.now()`. */
  readonly activeAt: number
}

/** Idle time after which a connection may be closed in favour of a new one, ms. */
const idleAfterMs = 60_000

/** Finds the connection that has been idle longest, if it exceeds the minimum. */
export function longestIdle<T extends IdleCandidate>(connections: readonly T[], now: number): T | undefined {
  const [longest] = connections
    .filter(({isIdle, activeAt}) => isIdle && now - activeAt > idleAfterMs)
    .sort((a, b) => a.activeAt - b.activeAt)
  return longest
}
