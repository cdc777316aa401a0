import type {Database} from 'better-sqlite3'
import {continueIds, startLife} from '../../store/index.js'

/**
 * Makes a restored store continue after the one that it replaces: no id of a task or event, and no generation of a
 * claim, is assigned again. Claims that the backup contains end, because the work may have ended after the backup.
 * Tasks that another node runs stay under their leases.
 */
export function continueTasks(database: Database, replaced: Database | undefined, now: Date): void {
  continueIds(database, replaced)
  const {first, last} = startLife(database, replaced, 'orch_events', now)
  database
    .prepare(
      `UPDATE mesh_delegations SET generation = ? WHERE state IN ('granting', 'held', 'relayed', 'started')
  AND generation = (SELECT claim_generation FROM orch_tasks t WHERE t.id = task_id)`,
    )
    .run(first)
  database.prepare('UPDATE orch_tasks SET claim_generation = ?').run(first)
  database
    .prepare("UPDATE orch_tasks SET claim_expires_ms = 0 WHERE status = 'InProgress' AND claim_expires_ms IS NOT NULL")
    .run()
  // The daemon that wrote the backup may be running in another workspace.
  database.prepare("UPDATE orch_leases SET fence = ?, expires_at_ms = 0, pid = 0, process_start = ''").run(first)
  database
    .prepare(
      `INSERT INTO orch_events (repository_id, timestamp_ms, type, payload)
SELECT DISTINCT repository_id, ?, 'store_restored', json_object('last_event_id', ?) FROM orch_agents`,
    )
    .run(now.getTime(), last)
}

/** SQL for the generation of a new task: above those of tasks with its id in earlier lives of the store. */
export const firstGeneration = '(SELECT coalesce(max(first_id), 0) FROM svc_log_lives)'
