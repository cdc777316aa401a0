import {onAbort} from '../../process/index.js'
import {watchStore} from '../../store/index.js'
import {type Accepted, requireRow, requireTask, runningDaemon} from '../../tasks/index.js'
import type {WorkspaceContext} from '../../workspace/index.js'
import {delegationOfTask} from '../rows.js'

/** Checks without a reported write, ms: a write of another machine is not reported. */
const pollMs = 250

/**
 * Waits until the daemon has decided where a task runs that may be delegated, at most until its requests have timed out.
 * Without a daemon, or for other tasks, returns at once.
 * @returns the reply with the current status and placement
 */
export async function awaitPlacement(
  context: WorkspaceContext,
  accepted: Accepted,
  signal: AbortSignal,
): Promise<Accepted> {
  const {store, config, now} = context
  const look = () => requireRow(context, accepted.task_id)
  const isOpen = () => {
    const row = look()
    if (row.delegation !== 'open' || runningDaemon(context) === undefined) return false
    if (row.status === 'Queued') return row.start_after_ms === null || row.start_after_ms <= now()
    return row.status === 'InProgress' && delegationOfTask(context, row.id)?.message_id === null
  }
  if (!isOpen()) return accepted
  // Granting and delivering can be retried within three timeouts each.
  const end = performance.now() + 6 * config.meshHttpTimeoutMs
  let close = () => {}
  const settled = new Promise<void>((resolve) => {
    const check = () => {
      if (performance.now() >= end || !isOpen()) resolve()
    }
    const stopWatching = watchStore(store, check)
    const timer = setInterval(check, pollMs)
    const stopListening = onAbort(signal, () => resolve())
    close = () => {
      stopWatching()
      clearInterval(timer)
      stopListening()
    }
  })
  await settled.finally(close)
  const {status, placement_reason} = requireTask(context, accepted.task_id)
  return {...accepted, status, placement_reason}
}
