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
