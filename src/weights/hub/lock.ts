import {randomUUID} from 'node:crypto'
import {mkdir, readFile, rm, stat, utimes, writeFile} from 'node:fs/promises'
import {hostname} from 'node:os'
import {dirname} from 'node:path'
import {setTimeout as sleep} from 'node:timers/promises'
import {isRunning} from '../../process/index.js'

/** How often the holder shows that it lives, and after how long without it the lock is void, ms. */
const heartbeatMs = 5000
const staleMs = 60_000
const pollMs = 200

/**
 * Holds a lock file while something is done that two processes must not do at once; waits where another one holds it.
 * The lock of a process that is gone is void.
 * @throws the reason of the signal
 */
export async function withLock<T>(path: string, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
  await mkdir(dirname(path), {recursive: true})
  const holder = `${process.pid} ${hostname()} ${randomUUID()}`
  while (!(await take(path, holder))) {
    if (!(await discardStale(path, holder))) await sleep(pollMs)
    signal?.throwIfAborted()
  }
  const heartbeat = setInterval(() => void utimes(path, new Date(), new Date()).catch(() => undefined), heartbeatMs)
  try {
    return await work()
  } finally {
    clearInterval(heartbeat)
    // A machine that slept may have lost it to another process.
    if ((await read(path)) === holder) await rm(path, {force: true})
  }
}

const read = (path: string) => readFile(path, 'utf8').catch(() => undefined)

/** Whether this holder has it now. */
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
 * Removes a lock that is void. One process at a time looks, or a second one would remove the new lock of the first.
 * @returns whether the lock can be tried again at once
 */
async function discardStale(path: string, holder: string): Promise<boolean> {
  if (!(await isStale(path))) return false
  const guard = `${path}.void`
  if (!(await take(guard, holder))) {
    if (await isStale(guard)) await rm(guard, {force: true})
    return false
  }
  try {
    if (await isStale(path)) await rm(path, {force: true})
    return true
  } finally {
    await rm(guard, {force: true})
  }
}

async function isStale(path: string): Promise<boolean> {
  const [holder, found] = [await read(path), await stat(path).catch(() => undefined)]
  // It was let go of in the meantime.
  if (holder === undefined || found === undefined) return false
  if (Date.now() - found.mtimeMs > staleMs) return true
  const [pid, host] = holder.split(' ')
  // The number says nothing on another machine, or in another container, that shares the folder.
  return host === hostname() && Number(pid) !== process.pid && !isRunning(Number(pid))
}
