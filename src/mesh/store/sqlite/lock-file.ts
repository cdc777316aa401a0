import {mkdir, open, realpath} from 'node:fs/promises'
import {dirname} from 'node:path'
import {SvcError} from '../../../errors/index.js'
import {openDatabase} from '../../../store/index.js'
import {isLocked} from './fault.js'

/**
 * Keeps other control planes away from a file, and nobody else: a lock of the operating system on a file beside it,
 * which ends with the process, however that ends. The store keeps in memory what it wrote, so another writer would make
 * it lie.
 * @returns what releases the lock
 * @throws store_busy where another control plane has it
 */
export async function lockStoreFile(path: string): Promise<() => void> {
  if (path === ':memory:') return () => undefined
  const beside = `${await canonicalPath(path)}.lock`
  await createEmpty(beside)
  const database = await openDatabase(':memory:', {busyTimeoutMs: 250})
  try {
    database.prepare('ATTACH ? AS held').run(beside)
    database.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    database.close()
    if (isLocked(error)) throw new SvcError('store_busy', {path}, {cause: error})
    throw new SvcError('store_unopenable', {path, reason: (error as Error).message}, {cause: error})
  }
  return () => database.close()
}

/** The name that a file has whatever it is called by; the file is made where it is not there. */
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

/** Does not open one that is there: closing it would end the locks that this process has on it. */
async function createEmpty(path: string): Promise<void> {
  try {
    const file = await open(path, 'wx', 0o600)
    await file.close()
  } catch (error) {
    const {code, message} = error as NodeJS.ErrnoException
    if (code !== 'EEXIST') throw new SvcError('store_unopenable', {path, reason: message}, {cause: error})
  }
}
