/** A connection, as far as it matters who makes room for another one. */
export interface Spareable {
  /** Nothing is being done for it, and nothing will be unless it asks. */
  readonly isIdle: boolean
  /** When it last sent or got anything, by `performance.now()`. */
  readonly activeAt: number
}

/** Who has had nothing to do with us for so long can connect again, ms. */
const spareAfterMs = 60_000

/** The one that has been silent for the longest time, if that is long enough. */
export function mostSpare<T extends Spareable>(connections: readonly T[], now: number): T | undefined {
  const [longest] = connections
    .filter(({isIdle, activeAt}) => isIdle && now - activeAt > spareAfterMs)
    .sort((a, b) => a.activeAt - b.activeAt)
  return longest
}
