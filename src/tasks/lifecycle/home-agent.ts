import type {WorkspaceContext} from '../../workspace/index.js'
import {emitPlacement} from '../routing/placement-event.js'
import {placeAgain} from './place-again.js'
import type {TaskRow} from './task-rows.js'

/** The agent that a task returns to: its former one, or another if that one has retired. */
export function homeAgent(context: WorkspaceContext, row: TaskRow, agentId: number): number {
  const known = context.store.get("SELECT 1 FROM orch_agents WHERE id = ? AND state <> 'retired'", [agentId])
  if (known !== undefined) return agentId
  const placement = placeAgain(context, row)
  emitPlacement(context, row, placement)
  return placement.agent.id
}
