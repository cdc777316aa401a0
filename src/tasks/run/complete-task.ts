import type {WorkspaceContext} from '../../workspace/index.js'
import type {TaskResult} from '../base/task.js'
import {type Completion, earlierCompletion, type JudgeOptions} from '../completion/judgement.js'
import type {Finisher} from '../lifecycle/finish.js'
import {requireRow, toTask} from '../lifecycle/task-rows.js'
import {TaskRun} from './task-run.js'

/**
 * Completes a task in progress if the completion gates accept it: its locks are released, its agent keeps the affinity
 * to its files, and its dependants are queued. Otherwise the task is queued again with the findings in its description,
 * or fails if a gate has returned it too often. A repeated request under the same claim has the same result.
 * @throws task_not_found, invalid_transition, claim_required, claim_lost, hidden_checks_unread; the reason of the signal
 */
export async function completeTask(
  context: WorkspaceContext,
  id: number,
  result: TaskResult | undefined,
  finisher: Finisher = {},
  options: JudgeOptions = {},
): Promise<Completion> {
  const row = requireRow(context, id)
  const earlier = earlierCompletion(context, row, finisher)
  if (earlier !== undefined) return earlier
  const run = new TaskRun(context, {task: toTask(row), ...finisher})
  const judged = await run.judge(result, options)
  return context.store.transaction(() => run.settle(judged))
}
