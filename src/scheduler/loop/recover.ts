import {processesWith, processStart} from '../../process/index.js'
import {requeueRow, selectTask, type TaskContext, type TaskRow} from '../../tasks/index.js'

import {type Lease, requireLease} from './lease.js'

/**
 * Queues again what a daemon that is no more was running, and ends the commands that it left behind, also those of tasks
 * that were cancelled since: two runs of one task would get into each other's way. Tasks of clients stay theirs as long
 * as they are heard of.
 * @returns how many tasks are queued again
 */
export function recoverRuns(context: TaskContext, lease: Lease): number {
  const {store, repositoryId} = context
  return store.transaction(() => {
    requireLease(context, lease)
    const left = store.all<TaskRow>(
      `${selectTask} WHERE t.repository_id = @repository AND (t.run_process IS NOT NULL
  OR (t.status = 'InProgress' AND t.claim_expires_ms IS NULL AND t.remote_delegate IS NULL)) ORDER BY t.id`,
      {repository: repositoryId},
    )
    for (const row of left) endCommand(row)
    store.run('UPDATE orch_tasks SET run_process = NULL WHERE repository_id = ? AND run_process IS NOT NULL', [
      repositoryId,
    ])
    const orphans = left.filter(({status, claim_expires_ms: expires}) => status === 'InProgress' && expires === null)
    for (const row of orphans) requeueRow(context, row, 'daemon_restarted')
    return orphans.length
  })
}

/**
 * Ends what a command left behind: its group, where the leader still is the process that was recorded, and every process
 * that bears the id of the task. A number alone tells nothing, since it is given out again.
 */
function endCommand({uid, processor, run_process}: TaskRow): void {
  const group = run_process === null ? undefined : (JSON.parse(run_process) as {pid: number; start: string})
  if (group !== undefined && group.start !== '' && processStart(group.pid) === group.start) kill(-group.pid)
  if (processor !== 'exec') return
  for (const pid of processesWith('SVC_TASK_UID', uid)) kill(pid)
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended by itself.
  }
}
