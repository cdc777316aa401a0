import type {InferenceEndpoint} from '../../inference/index.js'
import type {OrchestratorContext} from '../context.js'
import type {Task} from '../tasks/task.js'
import {aiProcessor} from './ai.js'
import type {ModelChoice} from './choose-model.js'
import {execProcessor} from './exec.js'
import type {Processor} from './processor.js'
import {routingReason} from './routing-reason.js'

/** The processors that a daemon has: models behind the endpoint, and the commands of the workspace. */
export function localProcessors(
  context: OrchestratorContext,
  {endpoint, env}: {endpoint: InferenceEndpoint; env: Readonly<Record<string, string | undefined>>},
): {ai: Processor; exec: Processor} {
  const {config, root} = context
  const ai = aiProcessor({
    endpoint,
    prices: config.modelPrices,
    costPreference: config.costPreference,
    onModelChosen: (task, choice) => recordDecision(context, task, choice),
  })
  return {
    ai: {run: (task, report, signal) => ai.run(withModelOfAgent(context, task), report, signal)},
    exec: execProcessor({root, ...config.exec, env}),
  }
}

/** An agent that has a model of its own wishes for it, unless the task wishes for another. */
function withModelOfAgent({store}: OrchestratorContext, task: Task): Task {
  if (task.model_preference !== undefined) return task
  const agent = store.get<{model: string | null}>('SELECT model FROM orch_agents WHERE id = ?', [task.agent_id])
  return agent?.model ? {...task, model_preference: agent.model} : task
}

function recordDecision({store, repositoryId, config}: OrchestratorContext, task: Task, choice: ModelChoice): void {
  const {journey_id, session_id} = task
  store.run(
    `INSERT INTO routing_decisions (journey_id, repository_id, session_id, surface, model_id, reason_json)
VALUES (?, ?, ?, 'orchestrator_ai_task', ?, ?)`,
    [
      journey_id ?? null,
      repositoryId,
      session_id ?? null,
      choice.model,
      JSON.stringify(routingReason(task, choice, config)),
    ],
  )
}
