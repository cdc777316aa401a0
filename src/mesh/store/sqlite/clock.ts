export interface ClockSources {
  /** What the machine says the time is, Unix ms; it may step. */
  wallClock: () => number
  /** Time that has passed, ms from anywhere; it never steps. */
  monotonic: () => number
}

/** How much faster or slower than time itself the clock may run to meet that of the machine. */
const slew = 0.05

/** How far behind the clock of the machine a clock is brought to it at once, ms. */
const leapAtMs = 5000

/** The clock of a store, in whole Unix ms: it never goes back, and leaps only on request. */
export interface Clock {
  now(): number
  /**
   * Goes to the clock of the machine where that is far ahead: it was set, or the machine has slept.
   * @returns by how much, ms, and what takes that back
   */
  leap(): {byMs: number; undo: () => void}
}

/**
 * A clock that runs on the monotonic one and draws near to that of the machine by a twentieth of the time that passes:
 * when that is set back, or a little forward, a lease ends at most a twentieth of its time earlier or later.
 */
export function createClock(start: number, {wallClock, monotonic}: ClockSources): Clock {
  let time = start
  let read = monotonic()
  const tick = () => {
    const now = monotonic()
    const passed = Math.max(0, now - read)
    read = Math.max(read, now)
    const ahead = wallClock() - (time + passed)
    const most = passed * slew
    time += passed + Math.min(most, Math.max(-most, ahead))
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

/** What was written of a clock when it ran: a time that it has not passed. */
export interface KeptClock {
  clock: number
  /** How far it may have been ahead of time itself, ms. */
  ahead: number
}

/**
 * How a clock goes on in another process, and how much longer what was held then is held: by all that has gone by, since
 * nobody could renew it meanwhile. Whether the machine was off or its clock was set makes no difference, which nobody
 * could distinguish.
 */
export function resume(kept: KeptClock | undefined, wall: number): {start: number; grace: number} {
  if (kept === undefined) return {start: wall, grace: 0}
  const start = Math.max(wall, kept.clock)
  return {start, grace: start - (kept.clock - kept.ahead)}
}
