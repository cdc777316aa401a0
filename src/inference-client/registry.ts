import type {InferenceEndpoint} from './endpoint.js'

/** A model that work can be given to. */
export interface ModelEntry {
  /** The name to ask the server for. */
  id: string
  /** Provider and name: `local/my-run`. */
  slug: string
  provider: 'local'
  tier: 'local'
  /** US dollars per million tokens. */
  cost: number
  /** Most tokens of a reply. */
  maxTokens: number
  baseUrl: string
}

/** Stands for whatever the server serves, where no model is named. */
export const placeholderModel = 'default-model'

const localMaxTokens = 4096

/** The models known without asking anyone: the local one. `served` adds what the server says it has. */
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
