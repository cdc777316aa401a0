import {completionModels} from './chat-completion.js'
import type {InferenceClient} from './endpoint.js'
import {isLocalServer} from './profile.js'

/** Timeout for the list of models, ms; without it, the configured model is used. */
const listTimeoutMs = 5000

/**
 * Names of the models that the server lists. Empty if the list is not available, because the server may still be able to
 * generate.
 * @throws the reason of the signal
 */
export async function servedModels(client: InferenceClient, signal: AbortSignal): Promise<string[]> {
  const timeout = new AbortController()
  const timer = setTimeout(() => timeout.abort(), listTimeoutMs)
  try {
    const limited = AbortSignal.any([signal, timeout.signal])
    if (!isLocalServer(client.profile)) return await completionModels(client, limited)
    const {body} = await client.json<{models?: unknown}>('/api/tags', {signal: limited})
    const models: unknown[] = Array.isArray(body?.models) ? body.models : []
    return models.map((model) => Object(model).name).filter((name) => typeof name === 'string')
  } catch {
    signal.throwIfAborted()
    return []
  } finally {
    clearTimeout(timer)
  }
}
