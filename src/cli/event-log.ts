import {closeSync, existsSync, fstatSync, mkdirSync, openSync, renameSync, statSync, writeSync} from 'node:fs'
import {dirname} from 'node:path'
import {writeFault} from '../files/index.js'
import type {EventRecord} from '../tasks/index.js'

export interface EventLog {
  append(events: readonly EventRecord[]): void
  /** Opens the path again, for instance after the file was moved. If that fails, the file stays open. */
  reopen(): void
  close(): void
}

/** Size of an event log, bytes, after which it is renamed to `FILE.1` and a new file begun. */
const maxLogBytes = 64 << 20
/** Number of older files that are kept, `FILE.1` being the latest. */
const keptFiles = 4

/**
 * Opens the file for appending; a new file is readable only by its owner. Without a path, nothing is written. Failed
 * writes, for example on a full disk, are reported once until a write succeeds; the store has the events too. A file
 * that becomes too large is renamed.
 * @throws file_unwritable, disk_full
 */
export function openEventLog(path: string | undefined, warn: (text: string) => void, maxBytes = maxLogBytes): EventLog {
  if (path === undefined) return {append: () => undefined, reopen: () => undefined, close: () => undefined}
  let file = openAppending(path)
  let isBroken = false
  const reopen = () => {
    const next = openAppending(path)
    closeSync(file)
    file = next
  }
  return {
    append: (events) => {
      try {
        const {size, ino} = fstatSync(file)
        if (size >= maxBytes) {
          rotate(path, ino)
          reopen()
        }
        writeSync(file, events.map((event) => `${JSON.stringify(event)}\n`).join(''))
        isBroken = false
      } catch (error) {
        if (!isBroken) warn(`Events are missing in ${path}: ${(error as Error).message}`)
        isBroken = true
      }
    },
    reopen: () => {
      try {
        reopen()
      } catch (error) {
        warn((error as Error).message)
      }
    },
    close: () => closeSync(file),
  }
}

/** Renames the files, unless the path is another file by now: then the open one was moved, or another process rotated. */
function rotate(path: string, ino: number): void {
  if (statSync(path, {throwIfNoEntry: false})?.ino !== ino) return
  for (let i = keptFiles; i > 0; i--) {
    const from = i === 1 ? path : `${path}.${i - 1}`
    if (existsSync(from)) renameSync(from, `${path}.${i}`)
  }
}

function openAppending(path: string): number {
  try {
    mkdirSync(dirname(path), {recursive: true})
    return openSync(path, 'a', 0o600)
  } catch (error) {
    throw writeFault(error, path)
  }
}
