import {killIfRunning, processesWith, processStart} from '../../process/index.js'
import type {WorkspaceContext} from '../../workspace/index.js'
import type {DaemonLease} from '../daemon/lease.js'
import {requeueRow} from '../lifecycle/finish.js'
import {selectTask, type TaskRow} from '../lifecycle/task-rows.js'

/**
 * Queues the tasks of a dead daemon again, and kills the commands that it left behind, including those of cancelled
 * tasks: two runs of one task would interfere. Clients keep their tasks as long as they send heartbeats.
 * @returns the number of tasks queued again
 */
export function recoverRuns(context: WorkspaceContext, lease: DaemonLease): number {
  const {store, repositoryId, config} = context
  return lease.transaction(() => {
    const left = store.all<TaskRow>(
      `${selectTask} WHERE t.repository_id = @repository AND (t.run_process IS NOT NULL
  OR (t.status = 'InProgress' AND t.claim_expires_ms IS NULL AND t.remote_delegate IS NULL)) ORDER BY t.id`,
      {repository: repositoryId},
    )
    for (const row of left) endCommand(row, config.behavioralGateOnComplete)
    store.run('UPDATE orch_tasks SET run_process = NULL WHERE repository_id = ? AND run_process IS NOT NULL', [
      repositoryId,
    ])
    const orphans = left.filter(({status, claim_expires_ms: expires}) => status === 'InProgress' && expires === null)
    for (const row of orphans) requeueRow(context, row, 'daemon_restarted')
    return orphans.length
  })
}

/**
 * Kills what a command left behind: its process group, if the leader is still the recorded process, and every process
 * with the id of the task in its environment. A pid alone is not sufficient, since pids are reused.
 * @param runsChecks tasks of every processor may have left the command of a check
 */
function endCommand({uid, processor, run_process}: TaskRow, runsChecks: boolean): void {
  const group = run_process === null ? undefined : (JSON.parse(run_process) as {pid: number; start: string})
  if (group !== undefined && group.start !== '' && processStart(group.pid) === group.start) killIfRunning(-group.pid)
  if (processor !== 'exec' && !runsChecks) return
  for (const pid of processesWith('SVC_TASK_UID', uid)) killIfRunning(pid)
}
