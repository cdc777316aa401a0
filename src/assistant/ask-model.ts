import {SvcError} from '../errors/index.js'
import type {ChatRequest, Generation} from '../inference-client/index.js'
import type {Assistant, Work} from './assistant.js'

/** What may differ from one question to the next. */
export type Question = Omit<ChatRequest, 'model'>

/** The model that was chosen for some work. */
export interface Model {
  readonly name: string
  /**
   * Asks once, and accounts for it whatever comes of it.
   * @throws timeout where the whole answer takes too long, however much of it there is; what `chat` of the inference client throws, and what the signal was aborted with
   */
  ask(question: Question, onDelta?: (text: string) => void): Promise<Generation>
}

/** Longest silence of the server, ms. A large model on a CPU reads for minutes before its first word. */
const idleTimeoutMs = 300_000

/** Chooses a model for some work, and has it as long as `use` goes on. */
export async function withModel<T>(
  assistant: Assistant,
  work: Work,
  signal: AbortSignal,
  use: (model: Model) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted()
  const {chat, defaultGenerationLimits, inferenceClient, modelRegistry, servedModels} = await import(
    '../inference-client/index.js'
  )
  const {endpoint, timeoutMs} = assistant
  const client = inferenceClient(endpoint, {idleTimeoutMs})
  try {
    const name = assistant.chooseModel(modelRegistry(endpoint, await servedModels(client, signal)), work)
    return await use({
      name,
      async ask(question, onDelta) {
        const begunMs = performance.now()
        const account = (generation: Generation | undefined) =>
          recordInteraction(assistant, work, {model: name, generation, latencyMs: performance.now() - begunMs})
        let generation: Generation
        try {
          const timeout = new SvcError('timeout', {url: endpoint.baseUrl, ms: timeoutMs})
          generation = await within(timeoutMs, timeout, signal, (limited) =>
            chat(client, {...question, model: name}, limited, defaultGenerationLimits, onDelta),
          )
        } catch (error) {
          // A store that is gone says less than why the call failed.
          attempt(() => account(undefined))
          throw error
        }
        account(generation)
        return generation
      },
    })
  } finally {
    await client.close()
  }
}

/**
 * Has something done within a time: its signal aborts when that is over, or when the other one does.
 * @throws what `work` throws, which is `tooLate` where it hands on why its signal aborted
 */
async function within<T>(
  ms: number,
  tooLate: Error,
  signal: AbortSignal,
  work: (limited: AbortSignal) => Promise<T>,
): Promise<T> {
  const deadline = new AbortController()
  // Held by the timer: a signal of `AbortSignal.timeout` can be collected before it aborts (Node 20).
  const timer = setTimeout(() => deadline.abort(tooLate), ms)
  try {
    return await work(AbortSignal.any([signal, deadline.signal]))
  } finally {
    clearTimeout(timer)
  }
}

function attempt(work: () => void): void {
  try {
    work()
  } catch {}
}

interface Interaction {
  model: string
  /** Undefined where the model gave no answer. */
  generation: Generation | undefined
  latencyMs: number
}

function recordInteraction(assistant: Assistant, work: Work, {model, generation, latencyMs}: Interaction): void {
  const {store, repositoryId, now, tellsCost} = assistant
  const {inputTokens = 0, outputTokens = 0} = generation ?? {}
  const costUsd = assistant.costOf(model, inputTokens + outputTokens)
  store.transaction(() => {
    store.run(
      `INSERT INTO llm_interactions (repository_id, session_id, trace_id, model_version, task_category, success,
  latency_ms, input_tokens, output_tokens, cost_usd, created_at_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      [
        repositoryId,
        work.sessionId ?? null,
        work.traceId ?? null,
        model,
        work.category,
        generation === undefined ? 0 : 1,
        Math.round(latencyMs),
        inputTokens,
        outputTokens,
        costUsd,
        now(),
      ],
    )
    if (tellsCost && generation !== undefined)
      assistant.onCost({provider: 'local', model, inputTokens, outputTokens, costUsd})
  })
}
