import {recordWork, type WorkPlace} from './work-metrics.js'

/** A call of a model, whether it succeeded or failed. */
export interface ModelCall {
  readonly sessionId?: string | undefined
  readonly traceId?: string | undefined
  readonly model: string
  /** `general`, `codegen`, or the category of a task. */
  readonly category: string
  readonly success: boolean
  readonly latencyMs: number
  readonly inputTokens: number
  readonly outputTokens: number
  readonly costUsd: number
}

/**
 * Records a call of a model, which no setting disables, and a metric about it.
 * @throws errors of the store
 */
export function recordModelCall(place: WorkPlace, call: ModelCall): void {
  const {store, repositoryId, now} = place
  store.run(
    `INSERT INTO llm_interactions (repository_id, session_id, trace_id, model_version, task_category, success,
  latency_ms, input_tokens, output_tokens, cost_usd, created_at_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      repositoryId,
      call.sessionId ?? null,
      call.traceId ?? null,
      call.model,
      call.category,
      call.success ? 1 : 0,
      Math.round(call.latencyMs),
      call.inputTokens,
      call.outputTokens,
      call.costUsd,
      now(),
    ],
  )
  const {sessionId, traceId, model, category, success, latencyMs} = call
  recordWork(place, 'model_call_event', {
    value: latencyMs,
    details: {
      model,
      category,
      success,
      input_tokens: call.inputTokens,
      output_tokens: call.outputTokens,
      cost_usd: call.costUsd,
      ...(sessionId === undefined ? {} : {session_id: sessionId}),
      ...(traceId === undefined ? {} : {trace_id: traceId}),
    },
  })
}
