import {DaemonClient, findDaemon} from '../../daemon/index.js'
import type {ClientContext} from '../clients/client-context.js'
import {countOpenTasks} from '../history/orchestrator-rows.js'
import {type DelegationOptions, type Peer, storeOf, template} from './peers.js'

/** Maximum number of tasks of an orchestrator that have not ended. */
const maxOpen = 5
/** Bounds of the pause between two tasks, ms. */
const minPauseMs = 100
const maxPauseMs = 600
const connectMs = 2000

const usualDurations = {'0': 6, '0.2': 4, '1': 2, '3': 1} as const

/**
 * Submits tasks to an orchestrator until its signal aborts, so that a few are always open. A request without a response
 * may have stored its task.
 */
export async function submitTasks(
  context: ClientContext,
  {name, folder}: Peer,
  durations: NonNullable<DelegationOptions['durations']> = usualDurations,
): Promise<void> {
  const {random, signal, pause} = context
  let client: DaemonClient | undefined
  for (let count = 1; !signal.aborted; ) {
    await pause(random.integer(minPauseMs, maxPauseMs))
    if (signal.aborted || ((await countOpenTasks(storeOf(folder))) ?? maxOpen) >= maxOpen) continue
    const tag = `${name}-task-${count++}`
    const task = {
      description: tag,
      processor: 'exec',
      exec: {template, params: {tag, seconds: random.weighted(durations)}},
      enqueue_hints: {execution_role: 'builder'},
    }
    try {
      client ??= await connect(folder)
      await client?.call('orch.submit_task', task)
    } catch {
      client?.close()
      client = undefined
    }
  }
  client?.close()
}

async function connect(folder: string): Promise<DaemonClient | undefined> {
  const address = findDaemon(folder)?.addr ?? undefined
  return address === undefined ? undefined : DaemonClient.connect(address, {timeoutMs: connectMs})
}
