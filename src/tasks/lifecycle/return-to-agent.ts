import type {WorkspaceContext} from '../../workspace/index.js'
import {homeAgent} from './home-agent.js'
import {moveTask} from './status.js'
import {requireRow, type TaskRow} from './task-rows.js'

/** Returns a doubted task to its former agent and role, or to another agent if that one has retired. */
export function returnToAgent(
  context: WorkspaceContext,
  row: TaskRow,
  agentId = homeAgent(context, row, formerAgent(row)),
): TaskRow {
  moveTask(context, row, 'Doubted', {
    agent_id: agentId,
    execution_role: row.doubted_role,
    doubted_agent_id: null,
    doubted_status: null,
    doubted_role: null,
    doubted_reason: null,
  })
  return requireRow(context, row.id)
}

/** The agent of a doubted task before the doubt. */
export const formerAgent = ({doubted_agent_id: former, agent_id: id}: TaskRow): number => former ?? id
