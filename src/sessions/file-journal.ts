import {
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  writeSync,
} from 'node:fs'
import {join} from 'node:path'
import {SvcError} from '../errors/index.js'
import type {SessionEvent} from './event.js'
import type {JournalEntry, SessionJournal} from './journal.js'
import {isSessionId} from './session-id.js'

const suffix = '.jsonl'
const newline = 0x0a

/**
 * Sessions as files `<folder>/<repository id>/<session id>.jsonl`, one event per line, readable only by the owner. Each
 * event is appended in one write, so that lines of several processes do not mix. The position of an entry is its byte
 * offset.
 * @throws usage if the repository id is not a valid directory name
 */
export function fileJournal(sessionsFolder: string, repositoryId: string): SessionJournal {
  if (!/^[\w-][\w.-]{0,127}$/.test(repositoryId))
    throw new SvcError('usage', {
      reason: `The repository id ${JSON.stringify(repositoryId)} is not a valid directory name.`,
    })
  const folder = join(sessionsFolder, repositoryId)
  const pathOf = (id: string) => {
    if (!isSessionId(id)) throw new SvcError('session_not_found', {id})
    return join(folder, `${id}${suffix}`)
  }
  return {
    list: () =>
      (orMissing(() => readdirSync(folder)) ?? [])
        .filter((name) => name.endsWith(suffix))
        .map((name) => name.slice(0, -suffix.length))
        .filter(isSessionId),
    load(id, from = 0) {
      if (!isSessionId(id)) return undefined
      const bytes = orMissing(() => readFrom(pathOf(id), from))
      if (bytes === undefined) return undefined
      const entries = [...completeLines(bytes, from)]
      // In a file without a complete line, the first event was never completely written.
      return entries.length === 0 && from === 0 ? undefined : entries
    },
    open(id, event) {
      const path = pathOf(id)
      mkdirSync(folder, {recursive: true, mode: 0o700})
      const file = orTaken(() => openSync(path, 'ax', 0o600))
      if (file === undefined) return false
      closing(file, () => writeLine(file, path, event))
      return true
    },
    append(id, event) {
      const path = pathOf(id)
      // Never creates the file, so that a session removed by another process stays removed.
      const file = orMissing(() => openSync(path, constants.O_RDWR | constants.O_APPEND))
      if (file === undefined) throw new SvcError('session_not_found', {id})
      closing(file, () => {
        if (lastByte(file) !== newline) blankTornLine(path)
        writeLine(file, path, event)
      })
    },
    remove: (id) => rmSync(pathOf(id), {force: true}),
    atomically: (work) => work(),
    place: (id, at) =>
      `line ${readFileSync(pathOf(id)).subarray(0, at).toString('latin1').split('\n').length} of ${pathOf(id)}`,
  }
}

function writeLine(file: number, path: string, event: SessionEvent): void {
  const line = Buffer.from(`${JSON.stringify(event)}\n`)
  if (writeSync(file, line) < line.length) throw new SvcError('disk_full', {path})
}

function readFrom(path: string, from: number): Buffer {
  const file = openSync(path, 'r')
  return closing(file, () => {
    const bytes = Buffer.alloc(Math.max(0, fstatSync(file).size - from))
    let length = 0
    for (let count = -1; count !== 0 && length < bytes.length; length += count)
      count = readSync(file, bytes, length, bytes.length - length, from + length)
    return bytes.subarray(0, length)
  })
}

/** Complete lines; lines of blanks replace torn ones. */
function* completeLines(bytes: Buffer, from: number): Generator<JournalEntry> {
  let start = 0
  for (let end = bytes.indexOf(newline); end !== -1; end = bytes.indexOf(newline, start)) {
    const text = bytes.toString('utf8', start, end)
    if (text.trim() !== '') yield {at: from + start, text}
    start = end + 1
  }
}

function lastByte(file: number): number {
  const byte = Buffer.of(newline)
  const {size} = fstatSync(file)
  if (size > 0) readSync(file, byte, 0, 1, size - 1)
  return byte[0] ?? newline
}

/** Maximum time that a live process needs to write a line, ms. */
const writingMs = 50

/**
 * Overwrites an incomplete line of a process that died while writing with blanks and a line end. The file is not
 * truncated, because another process may do the same concurrently and may already have appended a line. Overwriting the
 * same bytes with blanks twice is harmless. A line that still grows is being written and is waited for.
 */
function blankTornLine(path: string): void {
  for (let torn = tornLine(path), before = -1; torn !== undefined; torn = tornLine(path)) {
    if (torn.end === before) {
      const {start, end} = torn
      const file = openSync(path, 'r+')
      closing(file, () => writeSync(file, `${' '.repeat(end - start - 1)}\n`, start))
    }
    before = torn.end
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, writingMs)
  }
}

function tornLine(path: string): {start: number; end: number} | undefined {
  const bytes = readFileSync(path)
  const start = bytes.lastIndexOf(newline) + 1
  return start === bytes.length ? undefined : {start, end: bytes.length}
}

function closing<T>(file: number, work: () => T): T {
  try {
    return work()
  } finally {
    closeSync(file)
  }
}

const orMissing = <T>(work: () => T): T | undefined => unless('ENOENT', work)
const orTaken = <T>(work: () => T): T | undefined => unless('EEXIST', work)

function unless<T>(code: string, work: () => T): T | undefined {
  try {
    return work()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === code) return undefined
    throw error
  }
}
