import type {OrchestratorContext} from '../context.js'
import {processesWith, processStart} from '../process-identity.js'
import {requeueRow} from '../tasks/finish.js'
import {selectTask, type TaskRow} from '../tasks/task-rows.js'
import {type Lease, requireLease} from './lease.js'

/**
 * Queues again what a daemon that is no more was running, and ends the commands that it left behind: two runs of one
 * task would get into each other's way. Tasks of clients stay theirs as long as they are heard of.
 * @returns how many tasks
 */
export function recoverRuns(context: OrchestratorContext, lease: Lease): number {
  const {store, repositoryId} = context
  return store.transaction(() => {
    requireLease(context, lease)
    const orphans = store.all<TaskRow>(
      `${selectTask} WHERE t.repository_id = ? AND t.status = 'InProgress' AND t.claim_expires_ms IS NULL
  AND t.remote_delegate IS NULL ORDER BY t.id`,
      [repositoryId],
    )
    for (const row of orphans) {
      endCommand(row)
      requeueRow(context, row, 'daemon_restarted')
    }
    return orphans.length
  })
}

/** Ends what a command left behind: the group that was recorded, and every process that bears the id of the task. */
function endCommand({uid, processor, run_process}: TaskRow): void {
  const group = run_process === null ? undefined : (JSON.parse(run_process) as {pid: number; start: string})
  if (group !== undefined && isStillThat(group)) kill(-group.pid)
  if (processor !== 'exec') return
  for (const pid of processesWith('SVC_TASK_UID', uid)) kill(pid)
}

/** The leader is the one that was recorded, or is gone; an id that was given out again is left alone. */
function isStillThat({pid, start}: {pid: number; start: string}): boolean {
  const found = processStart(pid)
  return start !== '' && (found === undefined || found === start)
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended by itself.
  }
}
