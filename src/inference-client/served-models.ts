import type {HttpClient} from '../net/index.js'

/** How long the list of models may take: without it the configured model is asked, ms. */
const listTimeoutMs = 5000

/**
 * Names that the server lists: none where it has no list, since it may well generate nevertheless.
 * @throws what the signal was aborted with
 */
export async function servedModels(client: HttpClient, signal: AbortSignal): Promise<string[]> {
  const tooLate = new AbortController()
  const timer = setTimeout(() => tooLate.abort(), listTimeoutMs)
  try {
    const limited = AbortSignal.any([signal, tooLate.signal])
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
