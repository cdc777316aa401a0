import {randomUUID} from 'node:crypto'
import {open, readdir, rename, rm, stat} from 'node:fs/promises'
import {basename, dirname, join} from 'node:path'
import type {Database} from 'better-sqlite3'
import {loadDriver} from './driver.js'

/** Maximum number of backups that migrations keep. */
const maxBackups = 10
/** Pages that are copied between two checks for signals. */
const pagesPerStep = 1000
/** Age from which an incomplete copy is the remainder of a killed process, ms. */
const remainderMs = 3_600_000

/** Files in which SQLite keeps changes of a database. It would apply those of an earlier file to a new one. */
export const journals = ['-journal', '-wal', '-shm'] as const

/** What follows the name of a database in the names of incomplete copies, see `partialOf`. */
const partialPattern = /^(\.backup-\d{8}T\d{6}Z(-\d+)?)?\.[0-9a-f]{8}\.partial$/
const stampPattern = /^\.backup-(\d{8}T\d{6}Z)(?:-(\d+))?$/

/** A free path for a backup next to a database, named after the time. */
export async function backupPath(path: string, now: Date): Promise<string> {
  const stamp = now.toISOString().replaceAll(/[-:]|\.\d+/g, '')
  const taken = new Set(await readdir(dirname(path)))
  let target = `${path}.backup-${stamp}`
  for (let i = 2; taken.has(basename(target)); i++) target = `${path}.backup-${stamp}-${i}`
  return target
}

/** A new name for a copy until it is complete. */
export const partialOf = (path: string): string => `${path}.${randomUUID().slice(0, 8)}.partial`

/** Removes a file with its journals. */
export async function removeDatabase(path: string): Promise<void> {
  for (const suffix of ['', ...journals]) await rm(`${path}${suffix}`, {force: true})
}

/** Makes a renamed file keep its name after a power failure. Not all systems can flush folders. */
export const syncFolderOf = (path: string): Promise<void> => sync(dirname(path)).catch(() => undefined)

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
export async function copyTo(database: Database, file: string, signal?: AbortSignal): Promise<void> {
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
export async function seal(file: string, use: (database: Database) => void = () => undefined): Promise<void> {
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

/** Removes what killed processes left: incomplete copies, and second names of a database that was not replaced. */
export async function removeRemainders(file: string): Promise<void> {
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
