import {randomUUID} from 'node:crypto'
import {mkdir, readFile, rm, stat, utimes} from 'node:fs/promises'
import {hostname} from 'node:os'
import {dirname} from 'node:path'
import {setTimeout as sleep} from 'node:timers/promises'
import {SvcError} from '../errors/index.js'
import {isRunning} from '../process/index.js'
import {createExclusively, writeFault} from './atomic-write.js'

/** Lock between processes. */
export interface FileLock {
  /** True if the lock is still held. A holder that is suspended for longer than `staleMs` loses it. */
  isHeld(): Promise<boolean>
  release(): Promise<void>
}

interface LockTiming {
  /** Age from which a lock is stale, ms. */
  staleMs: number
  /** Maximum interval between two attempts, ms. */
  pollMs: number
}

/** For work of a few milliseconds. */
const short: LockTiming = {staleMs: 2000, pollMs: 20}
/** Timeout of the wait for a short lock, ms. */
const timeoutMs = 15_000

/** For work of minutes: the holder refreshes its lock. */
const long: LockTiming = {staleMs: 60_000, pollMs: 200}
const heartbeatMs = 5000

/**
 * Acquires the lock of a file for a few milliseconds of work. The lock is a file with the suffix `.lock`.
 * @throws file_unwritable if the lock cannot be acquired
 */
export async function lockFile(path: string): Promise<FileLock> {
  const latest = performance.now() + timeoutMs
  const checkTime = () => {
    if (performance.now() > latest)
      throw new SvcError('file_unwritable', {path, reason: 'it is locked by another process'})
  }
  try {
    await mkdir(dirname(path), {recursive: true, mode: 0o700})
    return await acquire(`${path}.lock`, short, checkTime)
  } catch (error) {
    throw writeFault(error, path)
  }
}

/**
 * Runs work of any duration under a lock file. Waits while another process holds the lock.
 * @throws the reason of the signal
 */
export async function withLockFile<T>(
  path: string,
  signal: AbortSignal | undefined,
  work: () => Promise<T>,
): Promise<T> {
  await mkdir(dirname(path), {recursive: true})
  const lock = await acquire(path, long, () => signal?.throwIfAborted())
  const heartbeat = setInterval(refresh, heartbeatMs, path)
  try {
    return await work()
  } finally {
    clearInterval(heartbeat)
    await lock.release()
  }
}

/**
 * Acquires a lock file for as long as the process wants it; undefined if another process holds it.
 * @throws file_unwritable
 */
export async function holdLockFile(path: string): Promise<Pick<FileLock, 'release'> | undefined> {
  const taken = Symbol('taken')
  let tries = 0
  try {
    await mkdir(dirname(path), {recursive: true, mode: 0o700})
    // The first try may find the lock of a process that has exited.
    const lock = await acquire(path, {...long, pollMs: 1}, () => {
      if (++tries === 2) throw taken
    })
    const heartbeat = setInterval(refresh, heartbeatMs, path).unref()
    return {
      release: async () => {
        clearInterval(heartbeat)
        await lock.release()
      },
    }
  } catch (error) {
    if (error === taken) return undefined
    throw writeFault(error, path)
  }
}

/** Process of this machine that holds a lock file. */
export interface LockHolder {
  pid: number
  /** Unix ms. */
  sinceMs: number
}

/** Returns undefined if no process of this machine holds the lock file. */
export async function lockHolder(path: string): Promise<LockHolder | undefined> {
  const [pid, host, , since] = ((await read(path)) ?? '').split(' ')
  if (host !== hostname() || since === undefined || (await isStale(path, long.staleMs))) return undefined
  return {pid: Number(pid), sinceMs: Number(since)}
}

const refresh = (path: string) => void utimes(path, new Date(), new Date()).catch(() => undefined)

/** @param afterEachTry throws to stop waiting */
async function acquire(path: string, timing: LockTiming, afterEachTry: () => void): Promise<FileLock> {
  const holder = `${process.pid} ${hostname()} ${randomUUID()} ${Date.now()}`
  while (!(await createExclusively(path, holder))) {
    if (!(await discardStale(path, holder, timing))) await sleep(timing.pollMs * (0.1 + 0.9 * Math.random()))
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

/**
 * Removes a stale lock. A guard file ensures that only one process does so: a second one that has seen the old lock
 * would remove the new lock of the first. The guard itself has no such protection, so a crash in here leaves a small
 * race.
 * @returns true if the lock can be tried again immediately
 */
async function discardStale(path: string, holder: string, {staleMs}: LockTiming): Promise<boolean> {
  if (!(await isStale(path, staleMs))) return false
  const guard = `${path}.void`
  if (!(await createExclusively(guard, holder))) {
    if (await isStale(guard, staleMs)) await rm(guard, {force: true})
    return false
  }
  try {
    if (await isStale(path, staleMs)) await rm(path, {force: true})
    return true
  } finally {
    await rm(guard, {force: true})
  }
}

/** True if a lock is too old, or its holder is a process of this machine that has exited. */
async function isStale(path: string, staleMs: number): Promise<boolean> {
  const [holder, found] = [await read(path), await stat(path).catch(() => undefined)]
  // The lock was released meanwhile.
  if (holder === undefined || found === undefined) return false
  if (Date.now() - found.mtimeMs > staleMs) return true
  const [pid, host] = holder.split(' ')
  // The pid is meaningless on another machine or container that shares the folder.
  return host === hostname() && Number(pid) !== process.pid && !isRunning(Number(pid))
}
