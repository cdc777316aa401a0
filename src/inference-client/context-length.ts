import type {HttpClient} from '../net/index.js'

/** Tokens of one call where nobody says: what servers of this dialect give a call by default. */
const usualContextLength = 4096
/** How long the description of a model may take, ms. */
const showTimeoutMs = 5000

/**
 * Tokens that a model reads and writes in one call, as its server says: the `num_ctx` that it runs with; else the length
 * that the model was made for, up to what servers give a call by default; else that default.
 * @throws what the signal was aborted with
 */
export async function contextLengthOf(client: HttpClient, model: string, signal: AbortSignal): Promise<number> {
  const tooLate = new AbortController()
  const timer = setTimeout(() => tooLate.abort(), showTimeoutMs)
  try {
    const limited = AbortSignal.any([signal, tooLate.signal])
    const {body} = await client.json<Shown>('/api/show', {method: 'POST', body: {model}, signal: limited})
    return readContextLength(body)
  } catch {
    signal.throwIfAborted()
    return usualContextLength
  } finally {
    clearTimeout(timer)
  }
}

interface Shown {
  parameters?: unknown
  model_info?: unknown
}

/** From an answer of `/api/show`. */
function readContextLength(body: unknown): number {
  const {parameters, model_info: info} = Object(body) as Shown
  const set = /^num_ctx\s+(\d+)\s*$/m.exec(typeof parameters === 'string' ? parameters : '')?.[1]
  if (set !== undefined && Number(set) > 0) return Number(set)
  const made = Object.entries(Object(info) as object).find(([name]) => name.endsWith('.context_length'))?.[1]
  return Number.isSafeInteger(made) && made > 0 ? Math.min(made, usualContextLength) : usualContextLength
}
