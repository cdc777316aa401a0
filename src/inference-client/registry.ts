import type {InferenceEndpoint} from './endpoint.js'

/** An available model. */
export interface ModelEntry {
  /** Model name in requests to the server. */
  id: string
  /** Provider and name: `local/my-run`. */
  slug: string
  provider: 'local'
  tier: 'local'
  /** US dollars per million tokens. */
  cost: number
  /** Maximum tokens of a reply. */
  maxTokens: number
  baseUrl: string
}

/** Model name if none is configured: the model that the server serves. */
export const placeholderModel = 'default-model'

const localMaxTokens = 4096

/** The registry: the configured local model, and the models in `served`. */
export function modelRegistry({model, baseUrl}: InferenceEndpoint, served: readonly string[] = []): ModelEntry[] {
  const ids = model === placeholderModel && served.length > 0 ? served : [model, ...served]
  return [...new Set(ids)].map((id) => ({
    id,
    slug: `local/${id}`,
    provider: 'local',
    tier: 'local',
    cost: 0,
    maxTokens: localMaxTokens,
    baseUrl,
  }))
}
