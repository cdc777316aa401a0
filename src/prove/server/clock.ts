/**
 * Fakes a wrong wall clock. Preloaded into the server process (`node --import`), it shifts `Date` by the milliseconds
 * in the file named by `SVC_PROVE_CLOCK`. The file may change at any time.
 */
import {readFileSync} from 'node:fs'

const {SVC_PROVE_CLOCK: path = ''} = process.env
/** Interval between reads of the file, ms: servers read the time more often than they could open a file. */
const readEveryMs = 20

const trueNow = Date.now
let readAt = -Infinity
let shiftMs = 0

function shifted(): number {
  const now = performance.now()
  if (now - readAt >= readEveryMs) {
    readAt = now
    shiftMs = readShift()
  }
  return trueNow() + shiftMs
}

function readShift(): number {
  try {
    return Number(readFileSync(path, 'utf8'))
  } catch {
    return 0
  }
}

Date.now = shifted
globalThis.Date = new Proxy(Date, {
  construct: (target, args, newTarget) => Reflect.construct(target, args.length === 0 ? [shifted()] : args, newTarget),
  apply: () => new Date(shifted()).toString(),
})
