import {costOf, type InferenceEndpoint} from '../../inference-client/index.js'
import {logger} from '../../log/index.js'
import {recordRoutingDecision, type Task, withAgentModel} from '../../tasks/index.js'
import {recordModelCall} from '../../telemetry/index.js'
import type {WorkspaceContext} from '../../workspace/index.js'
import {aiProcessor, type ModelAnswer} from './ai.js'
import {execProcessor} from './exec.js'
import {logResult, readMemory} from './memory.js'
import type {Processor} from './processor.js'

/**
 * The processors of a daemon: models behind the endpoint, and the commands of the workspace. Settings are read when a
 * task starts, so that a reload applies to the next task.
 */
export function localProcessors(
  context: WorkspaceContext,
  {endpoint, env}: {endpoint: InferenceEndpoint; env: Readonly<Record<string, string | undefined>>},
): {ai: Processor; exec: Processor} {
  const {root} = context
  const ai = () =>
    aiProcessor({
      endpoint,
      prices: context.config.modelPrices,
      costPreference: context.config.costPreference,
      memory: () => readMemory(context),
      onModelChosen: ({id, journey_id, session_id, category, complexity}, choice) =>
        recordRoutingDecision(context, {
          surface: 'orchestrator_ai_task',
          choice,
          taskId: id,
          journeyId: journey_id,
          sessionId: session_id,
          category,
          complexity,
        }),
      onModelCall: (task, call) => account(context, task, call),
    })
  const exec = () => execProcessor({root, ...context.config.exec, env})
  return {
    ai: {
      async run(task, report, signal) {
        const outcome = await ai().run(withAgentModel(context, task), report, signal)
        await logResult(context, task, outcome.text)
        return outcome
      },
    },
    exec: {run: (task, report, signal) => exec().run(task, report, signal)},
  }
}

/** Accounts for a call. The answer is more useful than the row, so a failure is only logged. */
function account(context: WorkspaceContext, task: Task, {model, generation, latencyMs}: ModelAnswer): void {
  const {inputTokens = 0, outputTokens = 0} = generation ?? {}
  const costUsd = costOf(model, inputTokens + outputTokens, context.config.modelPrices)
  const {session_id: sessionId, trace_id: traceId, category = 'general'} = task
  const success = generation !== undefined
  const usage = {inputTokens, outputTokens, costUsd}
  try {
    recordModelCall(context, {sessionId, traceId, model, category, success, latencyMs, ...usage})
  } catch (error) {
    logger('svc.telemetry').warn({err: error, task_id: task.id}, 'cannot record model call')
  }
}
