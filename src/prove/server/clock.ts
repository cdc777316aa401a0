/**
 * A wall clock that is wrong: loaded into the process of a server before anything else (`node --import`), it shifts what
 * `Date` says by as many milliseconds as stand in the file that `SVC_PROVE_CLOCK` names. The file may change at any time.
 */
import {readFileSync} from 'node:fs'

const {SVC_PROVE_CLOCK: path = ''} = process.env
/** How often the file is read, ms: a server asks for the time more often than it can open files. */
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
