import {setTimeout as sleep} from 'node:timers/promises'
import {SvcError} from '../errors/index.js'
import {isAlive} from '../process/index.js'
import {DaemonClient} from './client.js'
import {type Discovery, findDaemon} from './discovery.js'

export interface StopOptions {
  token: string | undefined
  /** Timeout of the stop, ms. */
  timeoutMs: number
  signal: AbortSignal
}

/** Poll interval, ms. */
const pollMs = 50

/** @throws daemon_not_running */
export function requireDaemon(root: string): Discovery {
  const found = findDaemon(root)
  if (found === undefined) throw new SvcError('daemon_not_running', {})
  return found
}

/**
 * Stops the daemon of a workspace and waits until it has exited.
 * @throws daemon_not_running, daemon_unverified, daemon_stop_timeout; the reason of the signal
 */
export async function stopDaemon(root: string, {token, timeoutMs, signal}: StopOptions): Promise<Discovery> {
  const found = requireDaemon(root)
  const {pid, process_start: start} = found
  // A second signal would make it stop without waiting for its tasks.
  if (!found.ending) await requestStop(found, {token, signal})
  const deadline = performance.now() + timeoutMs
  while (isAlive(pid, start)) {
    if (performance.now() > deadline)
      throw new SvcError('daemon_stop_timeout', {pid, seconds: Math.round(timeoutMs / 1000)})
    await sleep(pollMs)
    signal.throwIfAborted()
  }
  return found
}

/** Uses a signal, or if the pid cannot be verified without a start time, an RPC request. */
async function requestStop(
  {pid, process_start: start, addr}: Discovery,
  options: Omit<StopOptions, 'timeoutMs'>,
): Promise<void> {
  if (start !== '') {
    process.kill(pid, 'SIGTERM')
    return
  }
  if (addr === null) throw new SvcError('daemon_unverified', {pid})
  const client = await DaemonClient.connect(addr, options)
  try {
    await client.call('orch.shutdown')
  } finally {
    client.close()
  }
}
