import type {WorkspaceContext} from '../../workspace/index.js'
import {type Placement, placeTask} from '../routing/place.js'
import {type TaskRow, toTask} from './task-rows.js'

/** Finds an agent for an existing task, excluding the agent that it leaves. */
export function placeAgain(context: WorkspaceContext, row: TaskRow, without?: number): Placement {
  const task = toTask(row)
  const {description, phase_label, file_manifest, capability_requirements: requirements, active_skill: skill} = task
  const leaving = without === undefined ? {} : {without}
  return placeTask(context, {description, phase_label, file_manifest, requirements, skill, ...leaving})
}
