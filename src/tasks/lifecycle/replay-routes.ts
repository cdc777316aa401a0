import type {WorkspaceContext} from '../../workspace/index.js'
import {emitPlacement} from '../routing/placement-event.js'
import {moveToAgent} from './move-to-agent.js'
import {placeAgain} from './place-again.js'
import {selectTask, type TaskRow} from './task-rows.js'

/** Maximum number of tasks that are routed again at once. */
const maxTasks = 2000

/**
 * Routes the queued tasks again, in queue order, and moves those for which another agent is now better. Tasks whose
 * agent was chosen by the submitter or by a handoff, and tasks delegated to another node, stay where they are.
 * @returns ids of the moved tasks
 */
export function replayRoutes(context: WorkspaceContext): number[] {
  const {store, repositoryId} = context
  return store.transaction(() => {
    const rows = store.all<TaskRow>(
      `${selectTask} WHERE t.repository_id = ? AND t.status = 'Queued' AND t.remote_delegate IS NULL AND t.handoff_count = 0
  AND t.request ->> 'is_targeted' IS NULL ORDER BY t.priority DESC, t.id LIMIT ${maxTasks}`,
      [repositoryId],
    )
    return rows.flatMap((row) => {
      const placement = placeAgain(context, row)
      if (placement.agent.id === row.agent_id) return []
      moveToAgent(context, row, placement.agent.id)
      emitPlacement(context, row, placement)
      return [row.id]
    })
  })
}
