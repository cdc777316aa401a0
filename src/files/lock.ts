import {randomUUID} from 'node:crypto'
import {mkdir, readFile, rm, stat, utimes, writeFile} from 'node:fs/promises'
import {hostname} from 'node:os'
import {dirname} from 'node:path'
import {setTimeout as sleep} from 'node:timers/promises'
import {SvcError} from '../errors/index.js'
import {isRunning} from '../process/index.js'
import {writeFault} from './atomic-write.js'

/** A lock that one process at a time has. */
export interface FileLock {
  /** Whether it is still held: a holder that is stopped for longer than the lock is good for loses it. */
  isHeld(): Promise<boolean>
  release(): Promise<void>
}

interface LockTiming {
  /** A lock that was not touched for longer is void, ms. */
  staleMs: number
  /** Longest time between two tries, ms. */
  pollMs: number
}

/** Work that takes a few milliseconds. */
const short: LockTiming = {staleMs: 2000, pollMs: 20}
/** How long a short lock is waited for, ms. */
const timeoutMs = 15_000

/** Work that takes minutes: the holder touches its lock. */
const long: LockTiming = {staleMs: 60_000, pollMs: 200}
const heartbeatMs = 5000

/**
 * Takes the lock of a file, which is a file beside it that only one can make, for a few milliseconds.
 * @throws file_unwritable where it cannot be had
 */
export async function lockFile(path: string): Promise<FileLock> {
  const latest = performance.now() + timeoutMs
  const checkTime = () => {
    if (performance.now() > latest)
      throw new SvcError('file_unwritable', {path, reason: 'other processes keep it locked'})
  }
  try {
    await mkdir(dirname(path), {recursive: true, mode: 0o700})
    return await acquire(`${path}.lock`, short, checkTime)
  } catch (error) {
    throw writeFault(error, path)
  }
}

/**
 * Holds a lock file while something is done that two processes must not do at once, for as long as that takes; waits
 * where another one holds it.
 * @throws the reason of the signal
 */
export async function withLockFile<T>(
  path: string,
  signal: AbortSignal | undefined,
  work: () => Promise<T>,
): Promise<T> {
  await mkdir(dirname(path), {recursive: true})
  const lock = await acquire(path, long, () => signal?.throwIfAborted())
  const heartbeat = setInterval(() => void utimes(path, new Date(), new Date()).catch(() => undefined), heartbeatMs)
  try {
    return await work()
  } finally {
    clearInterval(heartbeat)
    await lock.release()
  }
}

/** @param afterEachTry throws where the lock is not waited for any longer */
async function acquire(path: string, timing: LockTiming, afterEachTry: () => void): Promise<FileLock> {
  const holder = `${process.pid} ${hostname()} ${randomUUID()}`
  while (!(await take(path, holder))) {
    if (!(await discardVoid(path, holder, timing))) await sleep(timing.pollMs * (0.1 + 0.9 * Math.random()))
    afterEachTry()
  }
  const isHeld = async () => (await read(path)) === holder
  return {
    isHeld,
    release: async () => {
      if (await isHeld()) await rm(path, {force: true})
    },
  }
}

const read = (path: string) => readFile(path, 'utf8').catch(() => undefined)

async function take(path: string, holder: string): Promise<boolean> {
  try {
    await writeFile(path, holder, {flag: 'wx'})
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/**
 * Removes a lock that is void. One process at a time may: a second one that has seen the old lock would remove the new
 * one of the first. Only where a process dies within this, the next ones have to guess.
 * @returns whether the lock can be tried again at once
 */
async function discardVoid(path: string, holder: string, {staleMs}: LockTiming): Promise<boolean> {
  if (!(await isVoid(path, staleMs))) return false
  const guard = `${path}.void`
  if (!(await take(guard, holder))) {
    if (await isVoid(guard, staleMs)) await rm(guard, {force: true})
    return false
  }
  try {
    if (await isVoid(path, staleMs)) await rm(path, {force: true})
    return true
  } finally {
    await rm(guard, {force: true})
  }
}

/** Whether a lock is older than it is good for, or its holder is a process of this machine that is gone. */
async function isVoid(path: string, staleMs: number): Promise<boolean> {
  const [holder, found] = [await read(path), await stat(path).catch(() => undefined)]
  // It was released in the meantime.
  if (holder === undefined || found === undefined) return false
  if (Date.now() - found.mtimeMs > staleMs) return true
  const [pid, host] = holder.split(' ')
  // The number says nothing on another machine, or in another container, that shares the folder.
  return host === hostname() && Number(pid) !== process.pid && !isRunning(Number(pid))
}
