import assert from 'node:assert/strict'
import {setTimeout as sleep} from 'node:timers/promises'

/** Timeout for a condition, ms; long enough for a slow machine. */
export const timeoutMs = 60_000

/** Polls until a condition holds, and fails after `timeoutMs`. A function as text shows the state at that time. */
export async function until(holds: () => boolean | Promise<boolean>, what: string | (() => string)): Promise<void> {
  const end = performance.now() + timeoutMs
  for (let pauseMs = 2; !(await holds()); pauseMs = Math.min(50, pauseMs * 1.5)) {
    if (performance.now() > end) assert.fail(`Not within ${timeoutMs} ms: ${typeof what === 'string' ? what : what()}`)
    await sleep(pauseMs)
  }
}

/**
 * Repeats an attempt with longer time limits until its request reaches the server: on a busy machine, a short limit may
 * pass before. Returns the result of the last attempt, and its limit in ms.
 */
export async function untilReached<T>(
  reached: () => boolean,
  attempt: (limitMs: number) => Promise<T>,
): Promise<{result: T; limitMs: number}> {
  for (let limitMs = 250; ; limitMs *= 4) {
    const result = await attempt(limitMs)
    if (reached()) return {result, limitMs}
  }
}
