import {realpath} from 'node:fs/promises'
import {SvcError} from '../../../errors/index.js'
import {createFile, openDatabase, storeError} from '../../../store/index.js'
import {isLocked} from './fault.js'

/**
 * Prevents other control planes from opening a database, because the store caches its contents in memory. Readers are
 * not affected: the lock is an operating-system lock on a separate file, which is released even if the process crashes.
 * @returns function that releases the lock
 * @throws store_busy if another control plane holds the lock
 */
export async function lockStoreFile(path: string): Promise<() => void> {
  if (path === ':memory:') return () => undefined
  const lockPath = await createLockFile(path)
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

/** Resolves symbolic links, so that all names of a file use the same lock. Creates missing files. */
async function createLockFile(path: string): Promise<string> {
  try {
    await createFile(path)
    const lockPath = `${await realpath(path)}.lock`
    await createFile(lockPath)
    return lockPath
  } catch (error) {
    throw storeError(error, path, true)
  }
}
