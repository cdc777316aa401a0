import {mkdir, open, realpath} from 'node:fs/promises'
import {dirname} from 'node:path'
import {SvcError} from '../../../errors/index.js'
import {openDatabase} from '../../../store/index.js'
import {isLocked} from './fault.js'

/**
 * Prevents other control planes from opening a database, because the store caches its contents in memory. Readers are
 * not affected: the lock is an operating-system lock on a separate file, which is released even if the process crashes.
 * @returns function that releases the lock
 * @throws store_busy if another control plane holds the lock
 */
export async function lockStoreFile(path: string): Promise<() => void> {
  if (path === ':memory:') return () => undefined
  const lockPath = `${await canonicalPath(path)}.lock`
  await createEmpty(lockPath)
  const database = await openDatabase(':memory:', {busyTimeoutMs: 250})
  try {
    database.prepare('ATTACH ? AS held').run(lockPath)
    database.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    database.close()
    if (isLocked(error)) throw new SvcError('store_busy', {path}, {cause: error})
    throw new SvcError('store_unopenable', {path, reason: (error as Error).message}, {cause: error})
  }
  return () => database.close()
}

/** Resolves symbolic links, so that all names of a file use the same lock. Creates a missing file. */
async function canonicalPath(path: string): Promise<string> {
  try {
    await mkdir(dirname(path), {recursive: true, mode: 0o700})
    return await realpath(path).catch(async () => {
      const file = await open(path, 'a', 0o600)
      await file.close()
      return realpath(path)
    })
  } catch (error) {
    throw new SvcError('store_unopenable', {path, reason: (error as Error).message}, {cause: error})
  }
}

/** Does not open an existing file: closing it would release the locks that this process holds on it (POSIX). */
async function createEmpty(path: string): Promise<void> {
  try {
    const file = await open(path, 'wx', 0o600)
    await file.close()
  } catch (error) {
    const {code, message} = error as NodeJS.ErrnoException
    if (code !== 'EEXIST') throw new SvcError('store_unopenable', {path, reason: message}, {cause: error})
  }
}
