/**
 * Loaded into a server before its own code, with `--expose-gc`, in the main thread and in every worker. It collects
 * garbage often, and once a second writes a sample as a line of JSON to descriptor 3. Nothing is written to the
 * standard streams, and no handle is opened that stays.
 */
import {readdirSync, writeSync} from 'node:fs'
import {isMainThread, threadId} from 'node:worker_threads'

/** Resource usage of a thread after a garbage collection. */
export interface ThreadSample {
  /** Thread id; 0 for the main thread. */
  thread: number
  /** Resident set of the process, bytes. */
  rss: number
  /** JavaScript heap of this thread, and external memory of its objects, including array buffers, bytes. */
  heap: number
  /** Number of requests, sockets, timers and ports that keep the event loop of this thread alive. */
  resources: number
  /** Number of open file descriptors of the process; only on Linux, from the main thread. */
  descriptors?: number
}

const collectEveryMs = 250
const sampleEveryMs = 1000
const reportTo = 3

const collect = (globalThis as {gc?: () => void}).gc as () => void
const collecting = setInterval(collect, collectEveryMs).unref()
const sampling = setInterval(sample, sampleEveryMs).unref()

function sample(): void {
  collect()
  const {rss, heapUsed, external} = process.memoryUsage()
  const line: ThreadSample = {
    thread: isMainThread ? 0 : threadId,
    rss,
    // `external` includes the array buffers.
    heap: heapUsed + external,
    resources: process.getActiveResourcesInfo().length,
    ...(isMainThread && process.platform === 'linux' ? {descriptors: readdirSync('/proc/self/fd').length} : {}),
  }
  try {
    writeSync(reportTo, `${JSON.stringify(line)}\n`)
  } catch {
    clearInterval(collecting)
    clearInterval(sampling)
    // The runner has exited, so the server is not needed any more.
    if (isMainThread) process.kill(process.pid, 'SIGTERM')
  }
}
