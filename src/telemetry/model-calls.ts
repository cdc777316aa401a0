import type {Store} from '../store/index.js'

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

interface Accounts {
  readonly store: Store
  readonly repositoryId: string
  /** Unix ms. */
  readonly now: () => number
}

/** Records a call of a model; no setting disables this. @throws errors of the store */
export function recordModelCall({store, repositoryId, now}: Accounts, call: ModelCall): void {
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
}
