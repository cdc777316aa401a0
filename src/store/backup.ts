import {createHash} from 'node:crypto'
import {createReadStream, existsSync, statSync} from 'node:fs'
import {mkdir, realpath} from 'node:fs/promises'
import {dirname, resolve} from 'node:path'
import {pipeline} from 'node:stream/promises'
import {isErrorOf, SvcError} from '../errors/index.js'
import {backupPath, copyTo, journals, partialOf, removeDatabase, seal, syncFolderOf} from './database-copy.js'
import {type DatabaseKind, type DatabaseName, requireIntact, requireKind} from './database-kind.js'
import {requireKnown} from './fragment.js'
import {openDatabase, storeError} from './store.js'

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
export function copyError(thrown: unknown, source: string, target: string): unknown {
  const error = storeError(thrown, source)
  if (error === thrown || !isErrorOf(error, 'store_unwritable')) return error
  return new SvcError('store_unwritable', {...error.params, path: target}, {cause: thrown})
}

/** Copies a database if it is of a kind that this version of svc can read. @throws database_kind_differs, store_newer, store_* */
export async function copyChecked(
  path: string,
  partial: string,
  kind: DatabaseKind,
  signal?: AbortSignal,
): Promise<void> {
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
