import type {InferenceEndpoint} from '../../inference-client/index.js'
import {recordRoutingDecision, type Task, type TaskContext} from '../../tasks/index.js'

import {aiProcessor} from './ai.js'
import {execProcessor} from './exec.js'
import type {Processor} from './processor.js'

/**
 * The processors that a daemon has: models behind the endpoint, and the commands of the workspace. What is set about
 * them is read when a task is run, so that a reload reaches the next one.
 */
export function localProcessors(
  context: TaskContext,
  {endpoint, env}: {endpoint: InferenceEndpoint; env: Readonly<Record<string, string | undefined>>},
): {ai: Processor; exec: Processor} {
  const {root} = context
  const ai = () =>
    aiProcessor({
      endpoint,
      prices: context.config.modelPrices,
      costPreference: context.config.costPreference,
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
    })
  const exec = () => execProcessor({root, ...context.config.exec, env})
  return {
    ai: {run: (task, report, signal) => ai().run(withModelOfAgent(context, task), report, signal)},
    exec: {run: (task, report, signal) => exec().run(task, report, signal)},
  }
}

/** An agent that has a model of its own wishes for it, unless the task wishes for another. */
function withModelOfAgent({store}: TaskContext, task: Task): Task {
  if (task.model_preference !== undefined) return task
  const agent = store.get<{model: string | null}>('SELECT model FROM orch_agents WHERE id = ?', [task.agent_id])
  return agent?.model ? {...task, model_preference: agent.model} : task
}
