import {setTimeout as sleep} from 'node:timers/promises'
import {SvcError} from '../errors/index.js'
import {isAlive} from '../process/index.js'
import {DaemonClient} from './client.js'
import {type Discovery, findDaemon} from './discovery.js'

export interface StopOptions {
  token: string | undefined
  /** How long it may take to end, ms. */
  timeoutMs: number
  signal: AbortSignal
}

/** Between two looks whether it has ended, ms. */
const lookMs = 50

/** @throws daemon_not_running */
export function requireDaemon(root: string): Discovery {
  const found = findDaemon(root)
  if (found === undefined) throw new SvcError('daemon_not_running', {})
  return found
}

/**
 * Asks the daemon of a workspace to end, and waits until it has.
 * @throws daemon_not_running, daemon_stop_timeout; the reason of the signal
 */
export async function stopDaemon(root: string, {token, timeoutMs, signal}: StopOptions): Promise<Discovery> {
  const found = requireDaemon(root)
  const {pid, process_start: start} = found
  // Asked a second time, it would not let its tasks end.
  if (!found.ending) await askToEnd(found, {token, signal})
  const deadline = performance.now() + timeoutMs
  while (isAlive(pid, start)) {
    if (performance.now() > deadline)
      throw new SvcError('daemon_stop_timeout', {pid, seconds: Math.round(timeoutMs / 1000)})
    await sleep(lookMs)
    signal.throwIfAborted()
  }
  return found
}

/** Where processes of one number cannot be told apart, the one that answers is the right one. */
async function askToEnd(
  {pid, process_start: start, addr}: Discovery,
  options: Omit<StopOptions, 'timeoutMs'>,
): Promise<void> {
  if (start !== '') {
    process.kill(pid, 'SIGTERM')
    return
  }
  if (addr === null) throw new SvcError('daemon_silent', {pid})
  const client = await DaemonClient.connect(addr, options)
  try {
    await client.call('orch.shutdown')
  } finally {
    client.close()
  }
}
