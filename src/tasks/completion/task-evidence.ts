import {withoutUndefined} from '../../contracts/index.js'
import type {WorkspaceContext} from '../../workspace/index.js'
import type {Task} from '../base/task.js'
import {collectEvidence} from '../evidence/collect.js'
import {readEvaluation} from '../evidence/evidence-rows.js'
import {evaluateGates, gates} from '../gates/gates.js'
import {taskWithOutput} from '../lifecycle/output.js'
import {requireRow, requireTask} from '../lifecycle/task-rows.js'
import {testDecisionOf} from '../submission/test-decision.js'
import {type RecordedEvaluation, recordOf} from './record.js'

/**
 * A task with its plan, the decision about its tests, the output of its command, and the latest evaluation of its gates.
 * @throws task_not_found
 */
export function taskInDetail(context: WorkspaceContext, id: number): Task {
  const evaluation = readEvaluation<RecordedEvaluation>(context, id)
  return {...taskWithPlan(context, id, {output: true}), ...withoutUndefined({evaluation})}
}

/**
 * A task with its plan, if it has one, and the decision about its tests.
 * @param output also include the output of its command
 * @throws task_not_found
 */
export function taskWithPlan(context: WorkspaceContext, id: number, {output = false} = {}): Task {
  const task = output ? taskWithOutput(context, id) : requireTask(context, id)
  const plan = context.store.get<{plan_session_id: string; plan_node_id: string; plan_version: number}>(
    `SELECT plan_session_id, node_id AS plan_node_id, version AS plan_version FROM plan_node_tasks WHERE task_id = ?`,
    [task.id],
  )
  const {decision: test_decision, rationale: test_rationale} = testDecisionOf(context, task.id)
  return {...task, ...plan, test_decision, test_rationale}
}

/**
 * The evidence for the completion of a task. For a task in progress it is collected now, without running checks;
 * otherwise it is that of the latest evaluation.
 * @throws task_not_found; the reason of the signal
 */
export async function taskEvidence(
  context: WorkspaceContext,
  id: number,
  {signal}: {signal?: AbortSignal} = {},
): Promise<RecordedEvaluation> {
  const row = requireRow(context, id)
  const stored = readEvaluation<RecordedEvaluation>(context, id)
  if (row.status !== 'InProgress' && stored !== undefined) return stored
  const result = row.result === null ? undefined : JSON.parse(row.result)
  const collected = await collectEvidence(context, row, result, {signal})
  // Its checks run when the task is completed.
  const evaluation = evaluateGates(
    collected.evidence,
    gates.filter(({name}) => name !== 'behavioral'),
  )
  return recordOf({collected, evaluation}, {outcome: 'pending'}, context.now())
}
