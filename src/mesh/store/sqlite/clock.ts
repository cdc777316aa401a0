export interface ClockSources {
  /** System time, Unix ms; may step. */
  wallClock: () => number
  /** Monotonic time, ms from an arbitrary origin. */
  monotonic: () => number
}

/** Maximum relative deviation from real time while the clock approaches the system time. */
const slew = 0.05

/** Lag behind the system time from which the clock leaps, ms. */
const leapAtMs = 5000

/** Clock of a store, whole Unix ms. It never goes back, and leaps only on request. */
export interface Clock {
  now(): number
  /**
   * Leaps to the system time if that is far ahead, because it was set or the machine has slept.
   * @returns size of the leap, ms, and a function to undo it
   */
  leap(): {byMs: number; undo: () => void}
}

/**
 * Creates a clock that follows monotonic time and slews towards the system time by up to 5 %. If the system time is set
 * back, or slightly forward, leases end at most 5 % of their duration earlier or later.
 */
export function createClock(start: number, {wallClock, monotonic}: ClockSources): Clock {
  let time = start
  let read = monotonic()
  const tick = () => {
    const now = monotonic()
    const passed = Math.max(0, now - read)
    read = Math.max(read, now)
    const ahead = wallClock() - (time + passed)
    const maxShift = passed * slew
    time += passed + Math.min(maxShift, Math.max(-maxShift, ahead))
  }

  return {
    now() {
      tick()
      return Math.floor(time)
    },
    leap() {
      tick()
      const behind = Math.floor(wallClock() - time)
      const byMs = behind > leapAtMs ? behind : 0
      time += byMs
      return {
        byMs,
        undo() {
          time -= byMs
        },
      }
    },
  }
}

/** Saved state of a clock: an upper bound of its time. */
export interface SavedClock {
  clock: number
  /** Maximum lead of `clock` over the actual time of the clock, ms. */
  ahead: number
}

/**
 * Start time of a clock after a restart, and the grace period by which leases are extended: the complete downtime,
 * since holders could not renew meanwhile. A stopped machine and a changed system clock cannot be distinguished, so
 * both are treated alike.
 */
export function resume(saved: SavedClock | undefined, wall: number): {start: number; grace: number} {
  if (saved === undefined) return {start: wall, grace: 0}
  const start = Math.max(wall, saved.clock)
  return {start, grace: start - (saved.clock - saved.ahead)}
}
