import type {TaskContext} from '../base/context.js'
import {appendEvent} from './event-log.js'

/** Tokens and US dollars of a call of a model. */
export interface Usage {
  provider: string
  model: string
  inputTokens: number
  outputTokens: number
  costUsd: number
}

/** Writes what a model was paid. @param subject the task and the agent that asked it; none where somebody else did */
export function emitCost(
  context: TaskContext,
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
