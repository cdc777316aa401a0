import {createHash, randomUUID} from 'node:crypto'
import {closeSync, constants, createReadStream, existsSync, openSync, readSync, statSync} from 'node:fs'
import {copyFile, link, mkdir, open, readdir, realpath, rename, rm, stat} from 'node:fs/promises'
import {basename, dirname, join, resolve} from 'node:path'
import {pipeline} from 'node:stream/promises'
import type {Database} from 'better-sqlite3'
import {isErrorOf, SvcError} from '../errors/index.js'
import {loadDriver} from './driver.js'
import {applyFragments, type Fragment, requireKnown} from './fragment.js'
import {createFile, openAlone, openDatabase, storeError} from './store.js'

/** Maximum number of backups that migrations keep. */
const maxBackups = 10
/** Pages that are copied between two checks for signals. */
const pagesPerStep = 1000
/** Age from which an incomplete copy is the remainder of a killed process, ms. */
const remainderMs = 3_600_000

/** Files in which SQLite keeps changes of a database. It would apply those of an earlier file to a new one. */
const journals = ['-journal', '-wal', '-shm'] as const

/** What follows the name of a database in the names of incomplete copies, see `partialOf`. */
const partialPattern = /^(\.backup-\d{8}T\d{6}Z(-\d+)?)?\.[0-9a-f]{8}\.partial$/
const stampPattern = /^\.backup-(\d{8}T\d{6}Z)(?:-(\d+))?$/

/** A free path for a backup next to a database, named after the time. */
async function backupPath(path: string, now: Date): Promise<string> {
  const stamp = now.toISOString().replaceAll(/[-:]|\.\d+/g, '')
  const taken = new Set(await readdir(dirname(path)))
  let target = `${path}.backup-${stamp}`
  for (let i = 2; taken.has(basename(target)); i++) target = `${path}.backup-${stamp}-${i}`
  return target
}

const partialOf = (path: string) => `${path}.${randomUUID().slice(0, 8)}.partial`

/** Removes a file with its journals. */
async function removeDatabase(path: string): Promise<void> {
  for (const suffix of ['', ...journals]) await rm(`${path}${suffix}`, {force: true})
}

/** Makes a renamed file keep its name after a power failure. Not all systems can flush folders. */
const syncFolderOf = (path: string): Promise<void> => sync(dirname(path)).catch(() => undefined)

/** Flushes a file or folder to the disk. */
async function sync(path: string): Promise<void> {
  const file = await open(path, 'r')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Copies the state of one commit into a new file while others write. */
async function copyTo(database: Database, file: string, signal?: AbortSignal): Promise<void> {
  // Readable only by the owner, like the database.
  await (await open(file, 'wx', 0o600)).close()
  // In a snapshot, the commits of other processes do not restart the copy, which might then never end.
  database.exec('BEGIN')
  try {
    database.prepare('SELECT 1 FROM sqlite_schema').get()
    const progress = () => {
      signal?.throwIfAborted()
      return pagesPerStep
    }
    await database.backup(file, {progress})
  } finally {
    database.exec('COMMIT')
  }
}

/** Makes a file a complete database without journals, on the disk. */
async function seal(file: string, use: (database: Database) => void = () => undefined): Promise<void> {
  const Driver = await loadDriver()
  const database = new Driver(file)
  try {
    use(database)
    database.pragma('journal_mode = DELETE')
  } finally {
    database.close()
  }
  await sync(file)
}

/**
 * Copies a database consistently while others write. The copy gets its final name when it is complete and on the disk;
 * an incomplete copy is removed.
 * @throws errors of SQLite and the file system
 */
export async function backUp(database: Database, path: string, now: Date): Promise<string> {
  const copy = await backupPath(path, now)
  const partial = partialOf(copy)
  try {
    await copyTo(database, partial)
    await seal(partial)
    await rename(partial, copy)
    await syncFolderOf(copy)
    return copy
  } catch (error) {
    await removeDatabase(partial)
    throw error
  }
}

/** The backups next to a database, newest first. */
async function backupsOf(path: string): Promise<string[]> {
  const [folder, name] = [dirname(path), basename(path)]
  const found = (await readdir(folder)).flatMap((file) => {
    const [, stamp = '', count = '1'] = (file.startsWith(name) && stampPattern.exec(file.slice(name.length))) || []
    return stamp === '' ? [] : [{file, stamp, count: Number(count)}]
  })
  return found.sort((a, b) => b.stamp.localeCompare(a.stamp) || b.count - a.count).map(({file}) => join(folder, file))
}

/** Removes the oldest backups beyond the maximum, and returns their paths. */
export async function pruneBackups(path: string): Promise<string[]> {
  const old = (await backupsOf(path)).slice(maxBackups)
  for (const file of old) await rm(file, {force: true})
  return old.reverse()
}

export type DatabaseName = 'app' | 'store' | 'mesh'

/** A kind of database file that svc writes. */
export interface DatabaseKind {
  readonly name: DatabaseName
  /** Its schema; empty if its program defines it. */
  readonly fragments: readonly Fragment[]
  /**
   * Changes the numbers of a database that takes the place of another one, so that it assigns none that others may
   * remember from before. Runs in a transaction.
   * @param replaced undefined if it is missing or damaged
   */
  continueFrom(database: Database, replaced: Database | undefined, now: Date): void
}

/** Tables by which the kinds are recognised; those of svc itself come first and have fragments. */
const marks: readonly {name: DatabaseName; text: string; tables: readonly string[]}[] = [
  {name: 'mesh', text: 'a mesh database', tables: ['schema_fragments', 'mesh_counters']},
  {name: 'store', text: 'a workspace store', tables: ['schema_fragments', 'orch_tasks']},
  {name: 'app', text: 'an application database', tables: ['svc_data_migrations']},
  {name: 'app', text: 'an application database', tables: ['svc_data_columns']},
]

/** @throws database_kind_differs */
function requireKind(database: Database, path: string, kind: DatabaseKind): void {
  const tables = new Set(database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all())
  const found = marks.find((mark) => mark.tables.every((table) => tables.has(table)))
  if (found?.name !== kind.name) throw kindDiffers(path, kind, found?.text)
}

function kindDiffers(path: string, {name}: DatabaseKind, found = 'a file of another program'): SvcError {
  const expected = marks.find((mark) => mark.name === name)?.text ?? name
  return new SvcError('database_kind_differs', {path, found, expected})
}

/** @throws store_damaged */
function requireIntact(database: Database, path: string): void {
  const reason = database.pragma('integrity_check(1)', {simple: true}) as string
  if (reason !== 'ok') throw new SvcError('store_damaged', {path, reason: reason.replaceAll('\n', ' ')})
}

export interface BackupFile {
  file: string
  kind: DatabaseName
  bytes: number
  sha256: string
}

export interface BackupOptions {
  /** Default: next to the database, named after the time. */
  file?: string | undefined
  signal?: AbortSignal | undefined
  now?: Date
  /** Gives the complete copy its name. */
  place: (partial: string, file: string) => Promise<void>
  /** Converts an error of the file system that concerns the target; default: unchanged. */
  fault?: (error: unknown, target: string) => Error
}

/**
 * Writes a checked copy of a database while others write. The file is complete, or absent.
 * @throws database_kind_differs, store_newer, store_damaged, backup_target_open, store_*; the errors of `fault`
 */
export async function backUpDatabase(
  path: string,
  kind: DatabaseKind,
  {file, signal, now = new Date(), place, fault = (error) => error as Error}: BackupOptions,
): Promise<BackupFile> {
  const toFault = (error: unknown, target: string) =>
    isSystemError(error) ? fault(error, target) : copyError(error, path, target)
  const target =
    file === undefined
      ? await backupPath(await realpath(path), now).catch((error: unknown) => {
          throw toFault(error, dirname(path))
        })
      : resolve(file)
  const live = journals.find((suffix) => existsSync(`${target}${suffix}`))
  if (live !== undefined) throw new SvcError('backup_target_open', {path: target, journal: `${target}${live}`})
  const partial = partialOf(target)
  try {
    await mkdir(dirname(target), {recursive: true})
    await copyChecked(path, partial, kind, signal)
    await seal(partial, (copy) => requireIntact(copy, path))
    const facts = {kind: kind.name, bytes: statSync(partial).size, sha256: await digestOf(partial, signal)}
    await place(partial, target)
    await syncFolderOf(target)
    return {file: target, ...facts}
  } catch (error) {
    throw toFault(error, target)
  } finally {
    // The error says why no file could be written there.
    await removeDatabase(partial).catch(() => undefined)
  }
}

const isSystemError = (error: unknown): boolean =>
  error instanceof Error && 'syscall' in error && !(error instanceof SvcError)

/** The error of a copy. The source is only read, so a database that cannot be written is the target. */
function copyError(thrown: unknown, source: string, target: string): unknown {
  const error = storeError(thrown, source)
  if (error === thrown || !isErrorOf(error, 'store_unwritable')) return error
  return new SvcError('store_unwritable', {...error.params, path: target}, {cause: thrown})
}

/** Copies a database if it is of a kind that this version of svc can read. @throws database_kind_differs, store_newer, store_* */
async function copyChecked(path: string, partial: string, kind: DatabaseKind, signal?: AbortSignal): Promise<void> {
  const database = await openDatabase(path, {readonly: true})
  try {
    requireKind(database, path, kind)
    requireKnown(database, path, kind.fragments)
    await copyTo(database, partial, signal)
  } finally {
    database.close()
  }
}

async function digestOf(file: string, signal: AbortSignal | undefined): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(file), hash, {signal})
  return hash.digest('hex')
}

export interface RestoreOptions {
  isDefaultPath?: boolean
  wait?: AbortSignal | undefined
  signal?: AbortSignal | undefined
  now?: Date
}

/**
 * Replaces a database with a checked copy of a backup, and keeps it as a backup. If the process is killed, the path
 * has the old or the new database.
 * @returns the backup of the replaced database; null if there was none
 * @throws file_not_found, output_is_input, backup_damaged, database_kind_differs, store_newer, database_in_use, store_*
 */
export async function restoreDatabase(
  backup: string,
  path: string,
  kind: DatabaseKind,
  {isDefaultPath, wait, signal, now = new Date()}: RestoreOptions = {},
): Promise<string | null> {
  const found = await stat(backup, {bigint: true}).catch((error: unknown) => {
    throw SvcError.from(error)
  })
  const present = await stat(path, {bigint: true}).catch(() => undefined)
  if (present?.ino === found.ino && present.dev === found.dev)
    throw new SvcError('output_is_input', {path, input: backup})
  const write = async (partial: string) => {
    try {
      await copyChecked(backup, partial, kind, signal)
      await seal(partial, (copy) => {
        requireIntact(copy, backup)
        applyFragments(copy, partial, kind.fragments)
      })
    } catch (thrown) {
      const error = copyError(thrown, backup, path)
      if (!isErrorOf(error, 'store_damaged')) throw error
      throw new SvcError('backup_damaged', {path: backup, reason: error.params.reason}, {cause: thrown})
    }
  }
  return replaceDatabase(path, {write, kind, isDefaultPath, wait, now})
}

export interface Replacement {
  /** Writes the new database to a free path. */
  write: (partial: string) => Promise<void>
  kind: DatabaseKind
  /**
   * The path was not chosen by the user, so a file that is not a database is a damaged one and not a file of the user.
   */
  isDefaultPath?: boolean | undefined
  /** Waits, until it aborts, while others use the database. */
  wait?: AbortSignal | undefined
  now?: Date
}

/**
 * Replaces a database that is not in use with a new one, and keeps the old one as a backup with all its changes. A
 * killed process leaves the old database or the new one.
 * @returns the path of the backup; null if there was nothing to keep
 * @throws database_in_use, database_kind_differs, store_*; the errors of `write`
 */
export async function replaceDatabase(
  path: string,
  {write, kind, isDefaultPath = false, wait, now = new Date()}: Replacement,
): Promise<string | null> {
  const folder = dirname(resolve(path))
  await mkdir(folder, {recursive: true, mode: 0o700})
  // SQLite names the journals after the file, not after a symbolic link to it.
  const file = await realpath(path).catch(async () => join(await realpath(folder), basename(path)))
  const partial = partialOf(file)
  try {
    await write(partial)
    const isMissing = !existsSync(file)
    await createFile(file)
    const old = await openReplaced(file, wait)
    try {
      requireReplaceable(old, file, kind, isDefaultPath)
      await removeRemainders(file)
      return await swap({file, partial, old, now, continueFrom: kind.continueFrom})
    } catch (error) {
      // It is locked and was not replaced, so it is still the empty one.
      if (isMissing) await removeDatabase(file)
      throw error
    } finally {
      old?.close()
    }
  } catch (error) {
    throw storeError(error, path)
  } finally {
    await removeDatabase(partial)
  }
}

/** Refuses files that are no earlier state of a database of this kind. @throws database_kind_differs */
function requireReplaceable(old: Database | undefined, file: string, kind: DatabaseKind, isDefaultPath: boolean): void {
  if (old === undefined) {
    if (!isDefaultPath && !hasHeader(file)) throw kindDiffers(file, kind, undefined)
    return
  }
  try {
    if (!hasNoTables(old, file)) requireKind(old, file, kind)
  } catch (error) {
    if (!isErrorOf(storeError(error, file), 'store_damaged')) throw error
  }
}

/** Whether a file begins like a SQLite database. To read it releases the locks of SQLite. */
function hasHeader(file: string): boolean {
  const expected = Buffer.from('SQLite format 3\0')
  const found = Buffer.alloc(expected.length)
  const opened = openSync(file, 'r')
  try {
    readSync(opened, found, 0, found.length, 0)
  } finally {
    closeSync(opened)
  }
  return found.equals(expected)
}

interface Swap {
  file: string
  partial: string
  /** Undefined if it is damaged. */
  old: Database | undefined
  now: Date
  continueFrom: DatabaseKind['continueFrom']
}

async function swap({file, partial, old, now, continueFrom}: Swap): Promise<string | null> {
  const isEmpty = old !== undefined && hasNoTables(old, file)
  await seal(partial, (copy) => {
    const follow = (replaced: Database | undefined) =>
      copy.transaction(() => continueFrom(copy, replaced, now)).immediate()
    try {
      follow(isEmpty ? undefined : old)
    } catch (error) {
      if (!isErrorOf(storeError(error, file), 'store_damaged')) throw error
      follow(undefined)
    }
  })
  const isMerged = old !== undefined && (await mergeJournal(old, file))
  const backup = isEmpty && isMerged ? null : await keep(file, old, now)
  if (!isMerged) {
    // When it is closed, SQLite may delete journals by the old name. Those of a damaged database are kept with it.
    old?.close()
    for (const suffix of journals)
      if (existsSync(`${file}${suffix}`)) await rename(`${file}${suffix}`, `${backup}${suffix}`)
  }
  await rename(partial, file)
  await syncFolderOf(file)
  return backup
}

/** False if it is damaged. */
function hasNoTables(database: Database, path: string): boolean {
  try {
    return database.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined
  } catch (error) {
    if (!isErrorOf(storeError(error, path), 'store_damaged')) throw error
    return false
  }
}

/**
 * Opens a database that is about to be replaced; undefined if it is damaged and not in use.
 * @throws database_in_use, store_*
 */
async function openReplaced(file: string, wait: AbortSignal | undefined): Promise<Database | undefined> {
  try {
    return await openAlone(file, wait)
  } catch (error) {
    if (!isErrorOf(error, 'store_damaged')) throw error
    const {usersText} = await import('../process/index.js')
    const user = await usersText(file)
    if (user !== '') throw new SvcError('database_in_use', {path: file, user}, {cause: error})
    return undefined
  }
}

/**
 * Merges the write-ahead log into a database that no other process uses and that is about to be replaced, and removes
 * its additional files. When it is closed, SQLite would delete a journal by the old name, which may then belong to a
 * new file. The database must not be written afterwards.
 * @returns false if it is damaged
 */
async function mergeJournal(database: Database, path: string): Promise<boolean> {
  try {
    database.pragma('journal_mode = DELETE')
    database.pragma('journal_mode = MEMORY')
  } catch (error) {
    if (!isErrorOf(storeError(error, path), 'store_damaged')) throw error
    return false
  }
  for (const suffix of journals) await rm(`${path}${suffix}`, {force: true})
  return true
}

/** Gives a database a second name, under which it stays when another file takes its place. */
async function keep(file: string, old: Database | undefined, now: Date): Promise<string> {
  for (;;) {
    const backup = await backupPath(file, now)
    try {
      await link(file, backup).catch((error: unknown) => {
        // The file system has no links.
        if (isTaken(error) || old !== undefined) throw error
        return copyFile(file, backup, constants.COPYFILE_EXCL)
      })
      return backup
    } catch (error) {
      if (isTaken(error)) continue
      if (old === undefined) throw error
    }
    try {
      // To copy the file would release the lock of SQLite, so SQLite copies it.
      return await backUp(old, file, now)
    } catch (error) {
      if (!isErrorOf(storeError(error, file), 'store_damaged')) throw error
      old.close()
      return keep(file, undefined, now)
    }
  }
}

const isTaken = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'EEXIST'

/** Removes what killed processes left: incomplete copies, and second names of a database that was not replaced. */
async function removeRemainders(file: string): Promise<void> {
  const [folder, name] = [dirname(file), basename(file)]
  for (const other of await readdir(folder)) {
    if (!other.startsWith(name) || !partialPattern.test(other.slice(name.length))) continue
    const found = await stat(join(folder, other)).catch(() => undefined)
    if (found !== undefined && found.mtimeMs < Date.now() - remainderMs) await removeDatabase(join(folder, other))
  }
  const inodeOf = (path: string) => stat(path, {bigint: true}).then(({ino}) => ino)
  const own = await inodeOf(file)
  for (const backup of await backupsOf(file)) if ((await inodeOf(backup).catch(() => 0n)) === own) await rm(backup)
}
