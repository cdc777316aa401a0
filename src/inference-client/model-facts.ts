import type {InferenceClient} from './endpoint.js'
import {isLocalServer} from './profile.js'

/** Default context length of Ollama-compatible servers, tokens. */
const usualContextLength = 4096
/** Timeout for the description of a model, ms. */
const showTimeoutMs = 5000

/** What a server says of a model; undefined where it does not. */
export interface ModelFacts {
  /** Tokens. */
  contextLength: number | undefined
  /** In the words of Ollama: `completion`, `tools`, `thinking`, `insert`. */
  capabilities: readonly string[] | undefined
}

/**
 * What `/api/show` says of a model. Its context length is `num_ctx`; else that of the model, up to the default of servers;
 * else that default. Nothing is known if the server does not answer, or only has the OpenAI API.
 * @throws the reason of the signal
 */
export async function modelFacts(client: InferenceClient, model: string, signal: AbortSignal): Promise<ModelFacts> {
  const unknown = {contextLength: undefined, capabilities: undefined}
  if (!isLocalServer(client.profile)) return unknown
  const timeout = new AbortController()
  const timer = setTimeout(() => timeout.abort(), showTimeoutMs)
  try {
    const limited = AbortSignal.any([signal, timeout.signal])
    const {body} = await client.json<ModelDetails>('/api/show', {method: 'POST', body: {model}, signal: limited})
    return {contextLength: readContextLength(body), capabilities: readCapabilities(body)}
  } catch {
    signal.throwIfAborted()
    return unknown
  } finally {
    clearTimeout(timer)
  }
}

/** Context length of a model in tokens, or else the default of servers. @throws the reason of the signal */
export const contextLengthOf = async (client: InferenceClient, model: string, signal: AbortSignal): Promise<number> =>
  (await modelFacts(client, model, signal)).contextLength ?? usualContextLength

interface ModelDetails {
  parameters?: unknown
  model_info?: unknown
  capabilities?: unknown
}

function readCapabilities(body: unknown): string[] | undefined {
  const {capabilities} = Object(body) as ModelDetails
  return Array.isArray(capabilities) ? capabilities.filter((name) => typeof name === 'string') : undefined
}

/** @param body response of `/api/show` */
function readContextLength(body: unknown): number {
  const {parameters, model_info: info} = Object(body) as ModelDetails
  const set = /^num_ctx\s+(\d+)\s*$/m.exec(typeof parameters === 'string' ? parameters : '')?.[1]
  if (set !== undefined && Number(set) > 0) return Number(set)
  const trained = Object.entries(Object(info) as object).find(([name]) => name.endsWith('.context_length'))?.[1]
  return Number.isSafeInteger(trained) && trained > 0 ? Math.min(trained, usualContextLength) : usualContextLength
}
