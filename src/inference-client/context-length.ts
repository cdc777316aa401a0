import type {InferenceClient} from './endpoint.js'
import {isLocalServer} from './profile.js'

/** Default context length of Ollama-compatible servers, tokens. */
const usualContextLength = 4096
/** Timeout for the description of a model, ms. */
const showTimeoutMs = 5000

/**
 * Context length of a model in tokens, according to `/api/show`: its `num_ctx`; else the context length of the model, up
 * to the default of servers; else that default. A server that only has the OpenAI API is not asked.
 * @throws the reason of the signal
 */
export async function contextLengthOf(client: InferenceClient, model: string, signal: AbortSignal): Promise<number> {
  if (!isLocalServer(client.profile)) return usualContextLength
  const timeout = new AbortController()
  const timer = setTimeout(() => timeout.abort(), showTimeoutMs)
  try {
    const limited = AbortSignal.any([signal, timeout.signal])
    const {body} = await client.json<ModelDetails>('/api/show', {method: 'POST', body: {model}, signal: limited})
    return readContextLength(body)
  } catch {
    signal.throwIfAborted()
    return usualContextLength
  } finally {
    clearTimeout(timer)
  }
}

interface ModelDetails {
  parameters?: unknown
  model_info?: unknown
}

/** @param body response of `/api/show` */
function readContextLength(body: unknown): number {
  const {parameters, model_info: info} = Object(body) as ModelDetails
  const set = /^num_ctx\s+(\d+)\s*$/m.exec(typeof parameters === 'string' ? parameters : '')?.[1]
  if (set !== undefined && Number(set) > 0) return Number(set)
  const trained = Object.entries(Object(info) as object).find(([name]) => name.endsWith('.context_length'))?.[1]
  return Number.isSafeInteger(trained) && trained > 0 ? Math.min(trained, usualContextLength) : usualContextLength
}
