import type {OrchestratorContext} from '../context.js'
import type {Usage} from '../processors/processor.js'
import {appendEvent} from './event-log.js'

/** Writes what a model was paid. @param subject the task and the agent that asked it; none where somebody else did */
export function tellCost(
  context: OrchestratorContext,
  {provider, model, inputTokens, outputTokens, costUsd}: Usage,
  subject: {task_id?: number; agent_id?: number} = {},
): void {
  appendEvent(context, {
    type: 'cost_incurred',
    ...subject,
    provider,
    model,
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    cost_usd: costUsd,
  })
}
