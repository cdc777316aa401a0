import {SvcError} from '../../errors/index.js'
import type {TaskStatus, WorkspaceContext} from '../../workspace/index.js'
import {displayTask} from '../base/ids.js'
import {appendEvent} from '../events/event-log.js'
import {moveTask} from './status.js'

/**
 * Checks the dependencies of a new task.
 * @returns the ids that are not completed yet
 * @throws dependency_unknown, dependency_failed
 */
export function openDependencies({store, repositoryId}: WorkspaceContext, ids: readonly number[]): number[] {
  return ids.filter((id) => {
    const found = store.get<{status: TaskStatus}>('SELECT status FROM orch_tasks WHERE id = ? AND repository_id = ?', [
      id,
      repositoryId,
    ])
    const dependency = displayTask(id)
    if (found === undefined) throw new SvcError('dependency_unknown', {dependency})
    if (found.status === 'Failed' || found.status === 'Cancelled')
      throw new SvcError('dependency_failed', {dependency, status: found.status})
    return found.status !== 'Completed'
  })
}

export function writeDependencies(
  {store}: WorkspaceContext,
  taskId: number,
  ids: readonly number[],
  open: readonly number[],
) {
  for (const id of ids)
    store.run('INSERT INTO orch_dependencies (task_id, depends_on, is_met) VALUES (?, ?, ?)', [
      taskId,
      id,
      open.includes(id) ? 0 : 1,
    ])
}

interface Waiting {
  id: number
  agent_id: number
  status: TaskStatus
  unmet_dependencies: number
}

const waitingFor = ({store}: WorkspaceContext, id: number): Waiting[] =>
  store.all<Waiting>(
    `SELECT t.id, t.agent_id, t.status, t.unmet_dependencies FROM orch_dependencies d JOIN orch_tasks t ON t.id = d.task_id
WHERE d.depends_on = ? AND d.is_met = 0 ORDER BY t.id`,
    [id],
  )

/** Queues the tasks for which a completed task was the last open dependency. */
export function releaseDependants(context: WorkspaceContext, id: number): void {
  const {store} = context
  const waiting = waitingFor(context, id)
  if (waiting.length === 0) return
  store.run('UPDATE orch_dependencies SET is_met = 1 WHERE depends_on = ? AND is_met = 0', [id])
  for (const task of waiting) {
    const unmet = task.unmet_dependencies - 1
    const ready = unmet === 0 && task.status === 'Blocked'
    moveTask(context, task, ready ? 'Queued' : task.status, {
      unmet_dependencies: unmet,
      blocked_on: unmet === 0 ? null : lastOpen(context, task.id),
    })
    if (ready) appendEvent(context, {type: 'task_unblocked', task_id: task.id, agent_id: task.agent_id})
  }
}

/** The dependency that a blocked task shows as `blocked_on`. */
export const lastOpen = ({store}: WorkspaceContext, taskId: number): number | null =>
  store.get<{id: number | null}>(
    'SELECT max(depends_on) AS id FROM orch_dependencies WHERE task_id = ? AND is_met = 0',
    [taskId],
  )?.id ?? null

export const dependencyFailed = (id: number): string => `dependency_failed:${displayTask(id)}`

/**
 * Yields the tasks that depend, directly or indirectly, on a task that will never complete, each with its failed
 * dependency. Doubted tasks are not included, because a person may still accept them as completed.
 */
export function* doomedBy(context: WorkspaceContext, id: number): Generator<{id: number; because: number}> {
  const seen = new Set([id])
  const queue = [id]
  for (let because = queue.shift(); because !== undefined; because = queue.shift())
    for (const task of waitingFor(context, because)) {
      if (seen.has(task.id) || (task.status !== 'Blocked' && task.status !== 'BlockedOnApproval')) continue
      seen.add(task.id)
      queue.push(task.id)
      yield {id: task.id, because}
    }
}

/** The first dependency of a task that can never complete. */
export const lostDependency = ({store}: WorkspaceContext, taskId: number): number | undefined =>
  store.get<{id: number}>(
    `SELECT t.id FROM orch_dependencies d JOIN orch_tasks t ON t.id = d.depends_on
WHERE d.task_id = ? AND d.is_met = 0 AND t.status IN ('Failed', 'Cancelled') ORDER BY t.id LIMIT 1`,
    [taskId],
  )?.id

/**
 * Reopens the dependencies of a failed task that is retried; those completed in the meantime are met.
 * @throws dependency_failed
 */
export function reopenDependencies(context: WorkspaceContext, taskId: number): number[] {
  const {store} = context
  const ids = store
    .all<{depends_on: number}>('SELECT depends_on FROM orch_dependencies WHERE task_id = ?', [taskId])
    .map(({depends_on: id}) => id)
  const open = openDependencies(context, ids)
  store.run(
    'UPDATE orch_dependencies SET is_met = (depends_on NOT IN (SELECT value FROM json_each(?))) WHERE task_id = ?',
    [JSON.stringify(open), taskId],
  )
  return open
}

/**
 * The order in which a batch is inserted: dependencies first.
 * @param dependencies for each task, the positions of its dependencies in the batch
 * @param nameOf name of the task at a position, for errors
 * @throws dependency_cycle, task_invalid
 */
export function batchOrder(dependencies: readonly (readonly number[])[], nameOf: (place: number) => string): number[] {
  const waiting = dependencies.map((places) => places.length)
  const dependants = dependencies.map((): number[] => [])
  for (const [place, needed] of dependencies.entries())
    for (const other of needed) {
      const list = dependants[other]
      if (list === undefined)
        throw new SvcError('task_invalid', {
          place: nameOf(place),
          fault: `temp_deps refers to position ${other}; the positions in the batch are 0 to ${dependencies.length - 1}`,
        })
      list.push(place)
    }
  const order: number[] = []
  const ready = waiting.flatMap((count, place) => (count === 0 ? [place] : []))
  for (let i = 0; i < ready.length; i++) {
    const place = ready[i] as number
    order.push(place)
    for (const next of dependants[place] ?? []) {
      waiting[next] = (waiting[next] ?? 0) - 1
      if (waiting[next] === 0) ready.push(next)
    }
  }
  if (order.length < dependencies.length)
    throw new SvcError('dependency_cycle', {cycle: namedCycle(findCycle(dependencies, waiting), nameOf)})
  return order
}

/** Maximum number of tasks of a cycle that an error names. */
const maxNamed = 10

function namedCycle(circle: readonly number[], nameOf: (place: number) => string): string[] {
  const [first = 0] = circle
  return circle.length <= maxNamed
    ? circle.map(nameOf)
    : [...circle.slice(0, maxNamed - 1).map(nameOf), '…', nameOf(first)]
}

/** Walks from a task that never became ready, always to another such task, until one repeats. */
function findCycle(dependencies: readonly (readonly number[])[], waiting: readonly number[]): number[] {
  const path = new Map<number, number>()
  let place = waiting.findIndex((count) => count > 0)
  while (!path.has(place)) {
    path.set(place, path.size)
    place = (dependencies[place] ?? []).find((other) => (waiting[other] ?? 0) > 0) ?? place
  }
  return [...[...path.keys()].slice(path.get(place)), place]
}
