import {mkdir, open, readFile, rm, stat, utimes} from 'node:fs/promises'
import {dirname} from 'node:path'
import {setTimeout as sleep} from 'node:timers/promises'

/** How often the holder shows that it lives, and after how long without it the lock is void, ms. */
const heartbeatMs = 5000
const staleMs = 30_000
const pollMs = 200

/**
 * Holds a lock file while something is done that two processes must not do at once; waits where another one holds it.
 * The lock of a process that is gone is void.
 * @throws the reason of the signal
 */
export async function withLock<T>(path: string, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
  await mkdir(dirname(path), {recursive: true})
  while (!(await take(path))) {
    if (await isStale(path)) await rm(path, {force: true})
    else await sleep(pollMs)
    signal?.throwIfAborted()
  }
  const beat = setInterval(() => void utimes(path, new Date(), new Date()).catch(() => undefined), heartbeatMs)
  try {
    return await work()
  } finally {
    clearInterval(beat)
    await rm(path, {force: true})
  }
}

/** Whether this process has it now. */
async function take(path: string): Promise<boolean> {
  try {
    const handle = await open(path, 'wx')
    await handle.write(String(process.pid))
    await handle.close()
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

async function isStale(path: string): Promise<boolean> {
  try {
    const {mtimeMs} = await stat(path)
    if (Date.now() - mtimeMs > staleMs) return true
    const holder = Number(await readFile(path, 'utf8'))
    return holder > 0 && holder !== process.pid && !isRunning(holder)
  } catch {
    // It was let go of in the meantime.
    return false
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
