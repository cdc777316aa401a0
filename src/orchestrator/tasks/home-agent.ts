import type {OrchestratorContext} from '../context.js'
import {placeTask} from '../routing/place.js'
import {tellPlacement} from '../routing/tell-placement.js'
import {type TaskRow, toTask} from './task-rows.js'

/** The agent that a task goes back to: the one that it had, or another one where that has retired. */
export function homeAgent(context: OrchestratorContext, row: TaskRow, agentId: number): number {
  const known = context.store.get("SELECT 1 FROM orch_agents WHERE id = ? AND state <> 'retired'", [agentId])
  if (known !== undefined) return agentId
  const {
    description,
    phase_label,
    file_manifest,
    capability_requirements: requirements,
    active_skill: skill,
  } = toTask(row)
  const placement = placeTask(context, {description, phase_label, file_manifest, requirements, skill})
  tellPlacement(context, row, placement)
  return placement.agent.id
}
