import {randomUUID} from 'node:crypto'
import {mkdir, readFile, rm, stat, writeFile} from 'node:fs/promises'
import {dirname} from 'node:path'
import {setTimeout as sleep} from 'node:timers/promises'
import {SvcError} from '../errors/index.js'
import {writeFault} from './atomic-write.js'

/** A lock that one process at a time has. */
export interface FileLock {
  /** Whether it is still had: whoever is stopped for long loses it. */
  isHeld(): Promise<boolean>
  release(): Promise<void>
}

/** A lock that is older is that of a process that died, ms. Work under a lock takes a few milliseconds. */
const staleMs = 2000
/** How long one is waited for, ms. */
const timeoutMs = 15_000

/**
 * Takes the lock of a file, which is a file beside it that only one can make.
 * @throws file_unwritable where it cannot be had
 */
export async function lockFile(path: string): Promise<FileLock> {
  const lock = `${path}.lock`
  const mark = randomUUID()
  const fail = (error: unknown) => {
    throw writeFault(error, path)
  }
  await mkdir(dirname(lock), {recursive: true, mode: 0o700}).catch(fail)
  const latest = performance.now() + timeoutMs
  while (!(await take(lock, mark).catch(fail))) {
    await removeStale(lock)
    if (performance.now() > latest)
      throw new SvcError('file_unwritable', {path, reason: 'other processes keep it locked'})
    await sleep(2 + Math.random() * 18)
  }
  const isHeld = async () => (await readFile(lock, 'utf8').catch(() => '')) === mark
  return {
    isHeld,
    release: async () => {
      if (await isHeld()) await rm(lock, {force: true})
    },
  }
}

async function take(lock: string, mark: string): Promise<boolean> {
  try {
    await writeFile(lock, mark, {flag: 'wx', mode: 0o600})
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/**
 * Takes away a lock that is too old. One at a time may: whoever else has seen the old one could take away the new one of
 * somebody who was faster. Only where a process dies within this, the next ones have to guess.
 */
async function removeStale(lock: string): Promise<void> {
  if (!(await isStale(lock))) return
  const removal = `${lock}-removal`
  if (await take(removal, '')) {
    if (await isStale(lock)) await rm(lock, {force: true})
    await rm(removal, {force: true})
  } else if (await isStale(removal)) await rm(removal, {force: true})
}

async function isStale(lock: string): Promise<boolean> {
  const found = await stat(lock).catch(() => undefined)
  return found !== undefined && Date.now() - found.mtimeMs > staleMs
}
