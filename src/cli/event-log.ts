import {
  closeSync,
  existsSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import {dirname} from 'node:path'
import {writeFault} from '../files/index.js'
import {isRunning} from '../process/index.js'
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
 * that becomes too large is renamed, if that is possible.
 * @throws file_unwritable, disk_full
 */
export function openEventLog(path: string | undefined, warn: (text: string) => void, maxBytes = maxLogBytes): EventLog {
  if (path === undefined) return {append: () => undefined, reopen: () => undefined, close: () => undefined}
  let file = openAppending(path)
  let isBroken = false
  let isStuck = false
  const reopen = () => {
    const next = openAppending(path)
    closeSync(file)
    file = next
  }
  /** Begins a new file. If that fails, the events are appended to the large one. */
  const replace = (ino: number) => {
    try {
      if (rotate(path, ino)) reopen()
      isStuck = false
    } catch (error) {
      if (!isStuck) warn(`${path} is large and cannot be renamed: ${(error as Error).message}`)
      isStuck = true
    }
  }
  return {
    append: (events) => {
      try {
        const {size, ino} = fstatSync(file)
        if (size >= maxBytes) replace(ino)
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

/**
 * Renames the files, unless the path is another file by now: then the open one was moved, or another process rotated.
 * @returns false if the path is to be written to as it is. Either another process renames it at this moment, or it is a
 *   link, such as /dev/stdout, which would be renamed instead of its file
 */
function rotate(path: string, ino: number): boolean {
  if (lstatSync(path, {throwIfNoEntry: false})?.isSymbolicLink()) return false
  const lock = `${path}.lock`
  if (!claim(lock)) return false
  try {
    if (statSync(path, {throwIfNoEntry: false})?.ino !== ino) return true
    const files = [path, ...Array.from({length: keptFiles}, (_, i) => `${path}.${i + 1}`)]
    // A process that was killed while it renamed files has left a gap: no older file has to make room.
    const gap = files.findIndex((file) => !existsSync(file))
    for (let i = gap === -1 ? keptFiles : gap; i > 0; i--) renameSync(files[i - 1] ?? path, files[i] ?? path)
    return true
  } finally {
    rmSync(lock, {force: true})
  }
}

/** Age from which a lock is stale, ms: a rotation takes a few. */
const staleMs = 10_000

/** Creates a lock file, unless a running process has it; a stale one is removed for the next try. */
function claim(lock: string): boolean {
  try {
    writeFileSync(lock, String(process.pid), {flag: 'wx'})
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    if (isStale(lock)) rmSync(lock, {force: true})
    return false
  }
}

/**
 * True for the lock of a process that has ended. Its id can be that of another process, for instance after a restart, and is
 * missing if the process was killed before it was written.
 */
function isStale(lock: string): boolean {
  try {
    if (Math.abs(Date.now() - statSync(lock).mtimeMs) > staleMs) return true
    const holder = Number(readFileSync(lock, 'utf8'))
    return holder > 0 && !isRunning(holder)
  } catch {
    return false
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
