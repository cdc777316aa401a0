import {SvcError} from '../errors/index.js'
import type {ChatRequest, Generation} from '../inference-client/index.js'
import {emitsCosts, recordModelCall} from '../telemetry/index.js'
import type {Assistant, Work} from './assistant.js'

/** The parameters of a request other than the model. */
export type Question = Omit<ChatRequest, 'model'>

/** The model that was chosen for some work. */
export interface Model {
  readonly name: string
  /**
   * Asks once, and records the call whether it succeeds or fails.
   * @throws timeout if the complete answer exceeds the time limit; errors of the inference client's `chat`; the abort
   *   reason of the signal
   */
  ask(question: Question, onDelta?: (text: string) => void): Promise<Generation>
}

/** Maximum silence of the server, ms. A large model on a CPU may need minutes before its first token. */
const idleTimeoutMs = 300_000

/** Chooses a model for some work and keeps it open while `use` runs. */
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
            chat(client, {...question, model: name}, limited, defaultGenerationLimits, {onDelta}),
          )
        } catch (error) {
          // The error of the call is more useful than that of a store that is gone.
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
 * Runs work with a time limit: its signal aborts when the time is up or when the other signal aborts.
 * @throws errors of `work`, including `tooLate` if `work` throws the abort reason
 */
async function within<T>(
  ms: number,
  tooLate: Error,
  signal: AbortSignal,
  work: (limited: AbortSignal) => Promise<T>,
): Promise<T> {
  const deadline = new AbortController()
  // The timer keeps it alive: a signal of `AbortSignal.timeout` can be garbage-collected before it aborts (Node 20).
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
  /** Undefined if the model returned no answer. */
  generation: Generation | undefined
  latencyMs: number
}

function recordInteraction(assistant: Assistant, work: Work, {model, generation, latencyMs}: Interaction): void {
  const {store} = assistant
  const {inputTokens = 0, outputTokens = 0} = generation ?? {}
  const costUsd = assistant.costOf(model, inputTokens + outputTokens)
  const {sessionId, traceId, category} = work
  const success = generation !== undefined
  store.transaction(() => {
    const usage = {inputTokens, outputTokens, costUsd}
    recordModelCall(assistant, {sessionId, traceId, model, category, success, latencyMs, ...usage})
    if (success && emitsCosts(assistant))
      assistant.onCost({provider: 'local', model, inputTokens, outputTokens, costUsd})
  })
}
