import {closeSync, mkdirSync, openSync, writeSync} from 'node:fs'
import {dirname} from 'node:path'
import {writeFault} from '../files/index.js'
import type {EventRecord} from '../tasks/index.js'

export interface EventLog {
  append(events: readonly EventRecord[]): void
  /** Opens the path again, for instance after the file was moved. If that fails, the file stays open. */
  reopen(): void
  close(): void
}

/**
 * Opens the file for appending; a new file is readable only by its owner. Without a path, nothing is written. Failed
 * writes, for example on a full disk, are reported once until a write succeeds; the store has the events too.
 * @throws file_unwritable, disk_full
 */
export function openEventLog(path: string | undefined, warn: (text: string) => void): EventLog {
  if (path === undefined) return {append: () => undefined, reopen: () => undefined, close: () => undefined}
  let file = openAppending(path)
  let isBroken = false
  return {
    append: (events) => {
      try {
        writeSync(file, events.map((event) => `${JSON.stringify(event)}\n`).join(''))
        isBroken = false
      } catch (error) {
        if (!isBroken) warn(`Events are missing in ${path}: ${(error as Error).message}`)
        isBroken = true
      }
    },
    reopen: () => {
      try {
        const next = openAppending(path)
        closeSync(file)
        file = next
      } catch (error) {
        warn((error as Error).message)
      }
    },
    close: () => closeSync(file),
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
