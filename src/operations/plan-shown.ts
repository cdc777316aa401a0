import {excerpt} from '../errors/index.js'
import type {PlanStatus} from '../plans/index.js'
import type {Socrates} from './socrates.js'

export interface JudgedPlanStatus extends PlanStatus {
  socrates: Socrates
}

const maxDescriptionLength = 200

export const presentStatus = ({
  session_id,
  status,
  latest_version,
  steps,
  step_counts,
  socrates,
}: JudgedPlanStatus) => ({
  session_id,
  status,
  source: 'database',
  plan_version: latest_version,
  nodes: steps.map((each) => ({
    node_id: each.node_id,
    status: each.status,
    description: excerpt(each.description, maxDescriptionLength),
    workflow: each.workflow ?? null,
    test_decision: each.test_decision,
    task_id: each.task_id ?? null,
    attempts_count: each.attempts,
    last_outcome: each.last_outcome ?? null,
    last_error: each.last_error ?? null,
    held_reason: each.held_reason ?? null,
  })),
  progress: {total: steps.length, completed: step_counts.completed, failed: step_counts.failed},
  socrates,
})
