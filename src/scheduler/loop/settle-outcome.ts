import {recordExchange, sessionsOf} from '../../sessions/index.js'
import type {Completion, Judged, TaskRun} from '../../tasks/index.js'
import type {WorkspaceContext} from '../../workspace/index.js'
import type {Outcome} from '../processors/processor.js'

/**
 * Settles the run of a processor with its usage, and adds the answer of a model to the session of the task; in a
 * transaction of the caller.
 * @throws as `TaskRun.settle`
 */
export function settleOutcome(
  context: WorkspaceContext,
  run: TaskRun,
  judged: Judged,
  {text, usage}: Outcome,
): Completion {
  const {processor, session_id, description} = run.held() ?? run.task
  const completion = run.settle(judged, usage)
  if (processor === 'ai')
    recordExchange(sessionsOf(context), session_id, {question: description, answer: text, ...usage})
  run.idle()
  return completion
}
