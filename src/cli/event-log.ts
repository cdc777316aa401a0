import {closeSync, mkdirSync, openSync, writeSync} from 'node:fs'
import {dirname} from 'node:path'
import {writeFault} from '../files/index.js'
import type {EventRecord} from '../tasks/index.js'

export interface EventLog {
  append(events: readonly EventRecord[]): void
  close(): void
}

/**
 * Opens the file, readable by its owner alone where it is new; without a path nothing is written. A disk that is full
 * while tasks run is told once: the store has the events anyway.
 * @throws file_unreadable and the like, where it cannot be opened
 */
export function openEventLog(path: string | undefined, warn: (fault: string) => void): EventLog {
  if (path === undefined) return {append: () => undefined, close: () => undefined}
  const file = openAppending(path)
  let isBroken = false
  return {
    append: (events) => {
      try {
        writeSync(file, events.map((event) => `${JSON.stringify(event)}\n`).join(''))
        isBroken = false
      } catch (error) {
        if (!isBroken) warn(`events are missing in ${path}: ${(error as Error).message}`)
        isBroken = true
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
