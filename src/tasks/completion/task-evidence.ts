import type {TaskContext} from '../base/context.js'
import {withoutUndefined} from '../base/members.js'
import type {Task} from '../base/task.js'
import {collectEvidence} from '../evidence/collect.js'
import {readEvaluation} from '../evidence/evidence-rows.js'
import {evaluateGates, gates} from '../gates/gates.js'
import {taskWithOutput} from '../lifecycle/output.js'
import {requireRow} from '../lifecycle/task-rows.js'
import {withTestDecision} from '../submission/test-decision.js'
import {type RecordedEvaluation, recordOf} from './record.js'

/** A task with the output of its command and the latest evaluation of its gates. @throws task_not_found */
export function taskInDetail(context: TaskContext, id: number): Task {
  const task = taskWithOutput(context, id)
  const evaluation = readEvaluation<RecordedEvaluation>(context, id)
  return {...withTestDecision(context, task), ...withoutUndefined({evaluation})}
}

/**
 * The evidence for the completion of a task. For a task in progress it is collected now, without running checks;
 * otherwise it is that of the latest evaluation.
 * @throws task_not_found; the reason of the signal
 */
export async function taskEvidence(
  context: TaskContext,
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
