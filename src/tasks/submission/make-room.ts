import {randomUUID} from 'node:crypto'
import {SvcError} from '../../errors/index.js'
import {priorities, type WorkspaceContext} from '../../workspace/index.js'
import {queuedOf, workingAgents} from '../agents/agent-rows.js'
import {spawnAgent} from '../agents/spawn.js'
import {cancelRow} from '../lifecycle/cancel.js'
import {selectTask, type TaskRow} from '../lifecycle/task-rows.js'
import type {NewTask} from './submission.js'

/**
 * Applies the overflow strategy of the configuration if the queues are full: rejects the task, replaces the weakest
 * queued one, or spawns an agent.
 * @returns the name of the agent that was spawned, if any
 * @throws queue_full
 */
export function makeRoom(context: WorkspaceContext, task: NewTask, dependsOn: readonly number[]): string | undefined {
  const {maxQueueLen: limit, queueOverflowStrategy: strategy} = context.config
  if (limit === 0) return undefined
  const queued = workingAgents(context).reduce((sum, row) => sum + queuedOf(row), 0)
  if (queued < limit) return undefined
  const maySpawn = workingAgents(context).length < context.config.maxAgents && task.target_agent === undefined
  if (strategy === 'spawn_new_agent' && maySpawn)
    return spawnAgent(context, {
      name: `overflow-${randomUUID().slice(0, 8)}`,
      kind: 'dynamic',
      reason: 'queue_overflow',
    }).name
  const weakest = strategy === 'drop_lowest' ? weakestQueued(context, dependsOn) : undefined
  if (weakest === undefined || weakest.priority >= priorities.indexOf(task.priority))
    throw new SvcError('queue_full', {queued, limit})
  cancelRow(context, weakest, {reason: 'queue_overflow'})
  return undefined
}

/** The queued task that would run last, among those without dependants. */
const weakestQueued = ({store, repositoryId}: WorkspaceContext, besides: readonly number[]): TaskRow | undefined =>
  store.get<TaskRow>(
    `${selectTask} WHERE t.repository_id = ? AND t.status = 'Queued' AND t.id NOT IN (SELECT value FROM json_each(?))
  AND NOT EXISTS (SELECT 1 FROM orch_dependencies d WHERE d.depends_on = t.id AND d.is_met = 0)
ORDER BY t.priority, t.id DESC LIMIT 1`,
    [repositoryId, JSON.stringify(besides)],
  )
