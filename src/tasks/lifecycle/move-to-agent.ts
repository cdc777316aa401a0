import type {ManifestEntry} from '../../contracts/index.js'
import type {WorkspaceContext} from '../../workspace/index.js'
import {appendEvent} from '../events/event-log.js'
import {forgetAffinity, recordAffinity, releaseLocks, takeLocks, writesOf} from '../locks.js'
import type {TaskRow} from './task-rows.js'

/**
 * Moves a waiting task to the queue of another agent. Its file locks move too, unless another task of the old agent
 * still holds them: then they are taken when the task runs.
 */
export function moveToAgent(
  context: WorkspaceContext,
  {id, status, agent_id: from, file_manifest}: Pick<TaskRow, 'id' | 'status' | 'agent_id' | 'file_manifest'>,
  agentId: number,
): void {
  const {store, now} = context
  store.run('UPDATE orch_tasks SET agent_id = ?, updated_at_ms = ? WHERE id = ?', [agentId, now(), id])
  releaseLocks(context, id)
  const files = writesOf(JSON.parse(file_manifest) as ManifestEntry[])
  const isFree =
    status !== 'Queued' || takeLocks(context, {taskId: id, agentId, files, purpose: 'reserve'}) === undefined
  if (isFree) {
    forgetAffinity(context, from, files)
    recordAffinity(context, agentId, files)
  }
  appendEvent(context, {type: 'task_moved', task_id: id, agent_id: agentId, from_agent_id: from})
}
