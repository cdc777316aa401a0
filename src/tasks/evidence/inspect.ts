import {createHash, type Hash} from 'node:crypto'
import {
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
  realpathSync,
  type Stats,
} from 'node:fs'
import {dirname, join} from 'node:path'
import {isWithin} from '../../files/index.js'
import type {Finding, Severity} from '../base/finding.js'
import {findingsSince, fingerprintsOf} from './file-findings.js'
import {committedFiles, trackedFiles} from './git.js'

/** A file as it was when its task was claimed first. */
export interface BaselineFile {
  path: string
  /** SHA-256 in hexadecimal; null if the file did not exist or could not be read. */
  digest: string | null
  /** Identify the findings of the file without its text. */
  fingerprints: readonly string[]
}

export interface ListedPath {
  /** Relative to the workspace root, with `/`. */
  path: string
  /** Undefined if the task did not list the file when it was claimed. */
  baseline?: BaselineFile
}

/** @property sinceMs time of the first claim of the task, Unix ms */
export interface Inspection {
  root: string
  listed: readonly ListedPath[]
  sinceMs: number
  /** Also find changes of files that are not listed. */
  findsOthers: boolean
}

/** The state of a listed file. */
export interface InspectedFile {
  path: string
  /** absent: it does not exist, and the task did not delete it. */
  change: 'created' | 'modified' | 'deleted' | 'unchanged' | 'absent'
  bytes: number
  digest?: string
  written_at_ms: number
  findings: readonly Finding[]
}

export interface Inspected {
  files: readonly InspectedFile[]
  /** Paths of other files that were written since. */
  others: readonly string[]
  /** The workspace has more files than were examined. */
  isPartial: boolean
}

/** Larger files are hashed but not scanned, bytes. */
export const scannedBytes = 2 ** 20
/** Larger files are neither hashed nor scanned, bytes. */
const hashedBytes = 2 ** 30
const chunkBytes = 2 ** 18
/** Maximum number of files to examine for changes. */
const maxFiles = 100_000
/** The kernel rounds the times of files down to its clock tick, ms. */
const clockTickMs = 10

/** Inspects the files of a task. Runs in a thread of its own; there, synchronous calls are the fastest. */
export async function inspect({root, listed, sinceMs, findsOthers}: Inspection): Promise<Inspected> {
  const realRoot = realpathSync(root)
  // git runs while the files are read.
  const tracked = findsOthers ? trackedFiles(realRoot) : undefined
  const without = listed.filter(({baseline}) => baseline === undefined).map(({path}) => path)
  const committed = await committedFiles(realRoot, without, scannedBytes)
  const files = listed.map(({path, baseline}) => {
    const before = baseline ?? committedBaseline(realRoot, path, committed.get(path))
    return inspectFile(realRoot, path, {before, isKnown: baseline !== undefined, sinceMs})
  })
  if (tracked === undefined) return {files, others: [], isPartial: false}
  const known = new Set(listed.map(({path}) => path))
  const {paths, isPartial} = changedSince(realRoot, (await tracked) ?? [...filesBelow(realRoot)], sinceMs)
  return {files, others: paths.filter((path) => !known.has(path)), isPartial}
}

/** Reads listed files before a task starts. */
export function takeBaseline(root: string, paths: readonly string[]): BaselineFile[] {
  const realRoot = realpathSync(root)
  return paths.map((path) => {
    const {digest = null, text} = readState(realRoot, path)
    return {path, digest, fingerprints: text === undefined ? [] : fingerprintsOf(path, text, existsBelow(realRoot))}
  })
}

const committedBaseline = (realRoot: string, path: string, bytes: Buffer | undefined): BaselineFile | undefined =>
  bytes === undefined
    ? undefined
    : {
        path,
        digest: createHash('sha256').update(bytes).digest('hex'),
        fingerprints: fingerprintsOf(path, textOf(bytes) ?? '', existsBelow(realRoot)),
      }

/** @property isKnown the state is that of the first claim; otherwise it is the last commit, if there is one */
interface Before {
  before: BaselineFile | undefined
  isKnown: boolean
  sinceMs: number
}

function inspectFile(realRoot: string, path: string, {before, isKnown, sinceMs}: Before): InspectedFile {
  const {bytes, digest, text, writtenAtMs, problem} = readState(realRoot, path)
  const existed = before !== undefined && before.digest !== null
  const isSame = existed && digest === before.digest
  // Without a state at the claim, only the time of the last write shows that this task wrote the file.
  const isWritten = isKnown || writtenAtMs >= sinceMs - clockTickMs
  const change =
    bytes < 0
      ? existed && isWritten
        ? 'deleted'
        : 'absent'
      : isSame || !isWritten || digest === undefined
        ? 'unchanged'
        : existed
          ? 'modified'
          : 'created'
  const inText = text === undefined ? [] : findingsSince(path, text, before?.fingerprints ?? [], existsBelow(realRoot))
  // What the task did not write is not its fault.
  const own = change === 'unchanged' ? inText.map((finding) => ({...finding, severity: 'info' as const})) : inText
  return {
    path,
    change,
    bytes: Math.max(0, bytes),
    ...(digest === undefined ? {} : {digest}),
    written_at_ms: writtenAtMs,
    findings: problem === undefined ? own : [problem, ...own],
  }
}

/** @property bytes -1 if there is no such file */
interface FileState {
  bytes: number
  digest?: string
  /** Absent if the file is binary or too large to scan. */
  text?: string
  writtenAtMs: number
  problem?: Finding
}

/** Reads a file without leaving the workspace. A file that cannot be read is no evidence, and a finding says why. */
function readState(realRoot: string, path: string): FileState {
  const absolute = join(realRoot, path)
  try {
    const real = realpathSync(absolute)
    if (!isWithin(realRoot, real)) return unread(path, 'outside-workspace', 'is outside the workspace')
    return readBytes(real, path)
  } catch (error) {
    const {code = ''} = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return {bytes: -1, writtenAtMs: folderTime(absolute)}
    return unread(path, 'unreadable', `cannot be read (${code})`)
  }
}

function readBytes(real: string, path: string): FileState {
  const descriptor = openSync(real, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const stats = fstatSync(descriptor)
    const writtenAtMs = lastWrite(stats)
    if (!stats.isFile()) return unread(path, 'not-a-file', 'is not a regular file', 'info')
    if (stats.size > hashedBytes) return unread(path, 'too-large', `is larger than ${hashedBytes} bytes`, 'info')
    const hash = createHash('sha256')
    const {bytes, start} = readAll(descriptor, hash)
    const text = start === undefined ? undefined : textOf(start)
    return {bytes, digest: hash.digest('hex'), writtenAtMs, ...(text === undefined ? {} : {text})}
  } finally {
    closeSync(descriptor)
  }
}

/** Hashes a file, and returns its content if it is short enough to scan. */
function readAll(descriptor: number, hash: Hash): {bytes: number; start: Buffer | undefined} {
  const kept: Buffer[] = []
  let bytes = 0
  for (;;) {
    const chunk = Buffer.allocUnsafe(chunkBytes)
    const read = readSync(descriptor, chunk, 0, chunkBytes, null)
    if (read === 0) break
    bytes += read
    const part = chunk.subarray(0, read)
    hash.update(part)
    if (bytes <= scannedBytes) kept.push(part)
  }
  return {bytes, start: bytes <= scannedBytes ? Buffer.concat(kept) : undefined}
}

const unread = (path: string, rule: string, problem: string, severity: Severity = 'error'): FileState => ({
  bytes: 0,
  writtenAtMs: 0,
  problem: {rule: `evidence/${rule}`, severity, path, message: `${path} ${problem}, so it is no evidence.`},
})

const utf8 = new TextDecoder('utf-8', {fatal: true})

/** The text of a file; undefined if it is binary: not UTF-8, or with a NUL character. */
function textOf(bytes: Buffer): string | undefined {
  if (bytes.includes(0)) return undefined
  try {
    return utf8.decode(bytes)
  } catch {
    return undefined
  }
}

/** Unix ms. The time of the last status change cannot be set back, unlike that of the last modification. */
const lastWrite = ({mtimeMs, ctimeMs}: Stats): number => Math.floor(Math.max(mtimeMs, ctimeMs))

/** The time at which a file may have been deleted: the last change of its folder. */
function folderTime(path: string): number {
  try {
    return lastWrite(lstatSync(dirname(path)))
  } catch {
    return dirname(path) === path ? 0 : folderTime(dirname(path))
  }
}

const existsBelow = (realRoot: string) => (path: string) =>
  lstatSync(join(realRoot, path), {throwIfNoEntry: false}) !== undefined

/** Those of some files below the root that were written since a time, in order. */
function changedSince(
  realRoot: string,
  candidates: readonly string[],
  sinceMs: number,
): {paths: string[]; isPartial: boolean} {
  const paths = candidates.slice(0, maxFiles).filter((path) => {
    const stats = lstatSync(join(realRoot, path), {throwIfNoEntry: false})
    return stats !== undefined && !stats.isDirectory() && lastWrite(stats) >= sinceMs - clockTickMs
  })
  return {paths: paths.sort(), isPartial: candidates.length > maxFiles}
}

/** Folders of tools, whose contents are not work of a task. */
const skipped = new Set(['.git', '.svc', 'node_modules'])

function* filesBelow(realRoot: string): Generator<string> {
  const folders = ['']
  let count = 0
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop())
    for (const entry of entriesOf(join(realRoot, folder))) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      if (!entry.isDirectory()) {
        yield path
        if (++count > maxFiles) return
      } else if (!skipped.has(entry.name)) folders.push(path)
    }
}

/** The entries of a folder; none if it was deleted or cannot be read. */
function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, {withFileTypes: true})
  } catch {
    return []
  }
}
