import type {WorkspaceContext} from '../../workspace/index.js'
import {agentsWithWork} from '../agents/agent-rows.js'
import type {DaemonLease} from '../daemon/lease.js'
import {startNext} from '../lifecycle/dispatch.js'
import {emergencyStopOf} from '../lifecycle/emergency-stop.js'
import {TaskRun} from './task-run.js'

/**
 * Starts the next task of every idle agent with queued tasks, one at a time per agent. After an emergency stop, none is
 * started.
 * @param running runs of this process that have not ended: their agents are busy, and their tasks are skipped
 * @throws daemon_replaced
 */
export function startRuns(context: WorkspaceContext, lease: DaemonLease, running: readonly TaskRun[]): TaskRun[] {
  if (emergencyStopOf(context) !== undefined) return []
  const busy = new Set(running.map(({task}) => task.agent_id))
  const idle = () => agentsWithWork(context).filter((id) => !busy.has(id))
  if (idle().length === 0) return []
  const starter = {owner: `daemon:${lease.fence}`, besides: running.map(({task}) => task.id)}
  const started = lease.transaction(() => idle().flatMap((id) => startNext(context, id, starter) ?? []))
  return started.map((each) => new TaskRun(context, each))
}

/** Those of some runs that no longer hold their claims: their tasks were cancelled, doubted or moved. */
export function lostRuns(context: WorkspaceContext, runs: readonly TaskRun[]): TaskRun[] {
  if (runs.length === 0) return []
  const rows = context.store.all<{id: number; status: string; claim_generation: number}>(
    'SELECT id, status, claim_generation FROM orch_tasks WHERE id IN (SELECT value FROM json_each(?))',
    [JSON.stringify(runs.map(({task}) => task.id))],
  )
  const claims = new Map(rows.map((row) => [row.id, row]))
  return runs.filter(({task, generation}) => {
    const row = claims.get(task.id)
    return row !== undefined && (row.status !== 'InProgress' || row.claim_generation !== generation)
  })
}
