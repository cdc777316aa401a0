import {existsSync} from 'node:fs'
import {readFile} from 'node:fs/promises'
import {loadDriver} from '../../store/index.js'
import type {Delegated, DelegationRow, Run, TaskRow} from './history.js'

/** Store of an orchestrator and the name that the history uses for it. */
export interface OrchestratorStore {
  orchestrator: string
  path: string
}

const withDatabase = async <T>(path: string, read: (all: <Row>(sql: string) => Row[]) => T): Promise<T> => {
  const Driver = await loadDriver()
  const database = new Driver(path, {readonly: true, fileMustExist: true, timeout: 20_000})
  try {
    return read(<Row>(sql: string) => database.prepare<[], Row>(sql).all())
  } finally {
    database.close()
  }
}

/** Number of tasks that have not ended; undefined if the orchestrator has not created its store yet. */
export async function countOpenTasks(path: string): Promise<number | undefined> {
  if (!existsSync(path)) return undefined
  return withDatabase(path, (all) => {
    if (all("SELECT 1 FROM sqlite_schema WHERE name = 'orch_tasks'").length === 0) return undefined
    const [row] = all<{open: number}>(
      "SELECT count(*) AS open FROM orch_tasks WHERE status NOT IN ('Completed', 'Failed', 'Cancelled')",
    )
    return row?.open
  })
}

/**
 * Reads the stores of orchestrators, read-only and with SQL of its own, and the runs that the commands of their tasks
 * have recorded.
 */
export async function readDelegated(stores: readonly OrchestratorStore[], runsFile: string): Promise<Delegated> {
  const read = await Promise.all(
    stores
      .filter(({path}) => existsSync(path))
      .map(({orchestrator, path}) =>
        withDatabase(path, (all) => ({
          tasks: all<Omit<TaskRow, 'orchestrator'>>(
            `SELECT t.id, t.uid, t.status, t.description AS tag, json_extract(t.result, '$.text') AS run,
  json_extract(t.result, '$.remote.exec_lease_id') AS lease,
  (SELECT count(*) FROM orch_events e WHERE e.task_id = t.id
     AND e.type IN ('task_completed', 'task_failed', 'task_cancelled')) AS ends,
  (SELECT count(*) FROM orch_events e WHERE e.task_id = t.id AND e.type = 'task_started') AS starts,
  (SELECT json_extract(e.payload, '$.placement_reason') FROM orch_events e
     WHERE e.task_id = t.id AND e.type = 'task_placed' ORDER BY e.id DESC LIMIT 1) AS placement
FROM orch_tasks t ORDER BY t.id`,
          ).map((row) => ({orchestrator, ...row})),
          delegations: all<Omit<DelegationRow, 'orchestrator'>>(
            'SELECT task_uid, idempotency_key, state, lease_id, worker_node_id FROM mesh_delegations ORDER BY id',
          ).map((row) => ({orchestrator, ...row})),
        })),
      ),
  )
  return {
    tasks: read.flatMap(({tasks}) => tasks),
    delegations: read.flatMap(({delegations}) => delegations),
    runs: await readRuns(runsFile),
  }
}

/** Each line names the task, the run and the program that ran it. */
async function readRuns(path: string): Promise<Run[]> {
  const lines = existsSync(path) ? (await readFile(path, 'utf8')).split('\n').filter(Boolean) : []
  return lines.map((line) => {
    const [tag = '', run = '', where = ''] = line.split(' ')
    return {tag, run, where}
  })
}
