import {constants, existsSync} from 'node:fs'
import {copyFile, link, mkdir, realpath, rename, rm, stat} from 'node:fs/promises'
import {basename, dirname, join, resolve} from 'node:path'
import type {Database} from 'better-sqlite3'
import {isErrorOf, SvcError} from '../errors/index.js'
import {copyChecked, copyError} from './backup.js'
import {
  backUp,
  backupPath,
  journals,
  partialOf,
  removeDatabase,
  removeRemainders,
  seal,
  syncFolderOf,
} from './database-copy.js'
import {type DatabaseKind, hasNoTables, requireIntact, requireReplaceable} from './database-kind.js'
import {applyFragments} from './fragment.js'
import {createFile, openAlone, storeError} from './store.js'

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
