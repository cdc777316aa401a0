import {emitsCosts} from '../../telemetry/index.js'
import type {WorkspaceContext} from '../../workspace/index.js'
import {appendEvent} from './event-log.js'

/** Tokens and cost in US dollars of a model call. */
export interface Usage {
  provider: string
  model: string
  inputTokens: number
  outputTokens: number
  costUsd: number
}

/** Emits the cost of a model call as an event, if enabled. @param subject the task and agent that made the call, if any */
export function emitCost(
  context: WorkspaceContext,
  {provider, model, inputTokens, outputTokens, costUsd}: Usage,
  subject: {task_id?: number; agent_id?: number} = {},
): void {
  if (!emitsCosts(context)) return
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
