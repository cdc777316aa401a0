import type {TaskLabel, WorkspaceContext} from '../../workspace/index.js'
import {displayTask} from '../base/ids.js'
import {labelOf, requireRow, type TaskRow} from './task-rows.js'

/** A task that another one waits for, or that waits for it. */
export interface RelatedTask {
  task_id: number
  display_id: string
  /** First line. */
  description: string
  status: TaskLabel
  /** The tasks that it waits for, of all that are not deleted. */
  depends_on: number[]
}

export interface RelatedTasks {
  /** Tasks that must be completed before it, nearest first. */
  prerequisites: RelatedTask[]
  /** Tasks that wait for it, nearest first. */
  dependants: RelatedTask[]
  /** True if there are more. */
  truncated: boolean
}

/** Queries that read the next tasks in a direction, of several at once. */
const steps = {
  prerequisites:
    'SELECT DISTINCT depends_on AS id FROM orch_dependencies WHERE task_id IN (SELECT value FROM json_each(?)) ORDER BY id',
  dependants:
    'SELECT DISTINCT task_id AS id FROM orch_dependencies WHERE depends_on IN (SELECT value FROM json_each(?)) ORDER BY id',
}

/**
 * The tasks that a task waits for, directly or not, and those that wait for it.
 * @param limit maximum number in each direction
 * @throws task_not_found
 */
export function relatedTasks(context: WorkspaceContext, id: number, {limit}: {limit: number}): RelatedTasks {
  requireRow(context, id)
  const [before, after] = [follow(context, id, 'prerequisites', limit), follow(context, id, 'dependants', limit)]
  return {
    prerequisites: read(context, before.slice(0, limit)),
    dependants: read(context, after.slice(0, limit)),
    truncated: before.length > limit || after.length > limit,
  }
}

/** Ids in a direction, nearest first; more than `limit` if there are more. */
function follow({store}: WorkspaceContext, start: number, direction: keyof typeof steps, limit: number): number[] {
  const found = new Set<number>()
  let nearest = [start]
  while (nearest.length > 0 && found.size <= limit) {
    const next = store.all<{id: number}>(steps[direction], [JSON.stringify(nearest)])
    nearest = next.flatMap(({id}) => (found.has(id) ? [] : id))
    for (const id of nearest) found.add(id)
  }
  return [...found]
}

function read({store}: WorkspaceContext, ids: readonly number[]): RelatedTask[] {
  const list = JSON.stringify(ids)
  const rows = store.all<Pick<TaskRow, 'id' | 'description' | 'status' | 'remote_delegate'>>(
    'SELECT id, description, status, remote_delegate FROM orch_tasks WHERE id IN (SELECT value FROM json_each(?))',
    [list],
  )
  const edges = store.all<{task_id: number; depends_on: number}>(
    'SELECT task_id, depends_on FROM orch_dependencies WHERE task_id IN (SELECT value FROM json_each(?)) ORDER BY depends_on',
    [list],
  )
  const byId = new Map(
    rows.map((row) => [
      row.id,
      {
        task_id: row.id,
        display_id: displayTask(row.id),
        description: row.description.trim().split('\n', 1)[0] ?? '',
        status: labelOf(row),
        depends_on: [] as number[],
      },
    ]),
  )
  for (const {task_id: id, depends_on: needed} of edges) byId.get(id)?.depends_on.push(needed)
  return ids.flatMap((id) => byId.get(id) ?? [])
}
