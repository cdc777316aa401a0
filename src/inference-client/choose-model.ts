import type {ModelEntry} from './registry.js'

/** US dollars per 1,000 tokens, by model name. */
export type ModelPrices = Readonly<Record<string, number>>

export type CostPreference = 'performance' | 'economy'

/** Assumed price of a model without a price when models are compared, US dollars per 1,000 tokens. */
export const assumedPrice = 0.003

export interface ModelChoice {
  /** The name to ask the server for. */
  model: string
  /** True if the model is in the registry. */
  registryHit: boolean
  /** True if the task preferred another model, which is not in the registry. */
  fallback: boolean
}

/**
 * Chooses the model of a task: its required model, or else its preferred model if that is registered, or else the first
 * in the registry. Under `economy` the default is the cheapest in the registry; ties go to the earlier one.
 */
export function chooseModel(
  registry: readonly Pick<ModelEntry, 'id'>[],
  {model_override: demanded, model_preference: wished}: {model_override?: string; model_preference?: string},
  prices: ModelPrices,
  costPreference: CostPreference,
): ModelChoice {
  const ids = registry.map(({id}) => id)
  if (demanded !== undefined) return {model: demanded, registryHit: ids.includes(demanded), fallback: false}
  if (wished !== undefined && ids.includes(wished)) return {model: wished, registryHit: true, fallback: false}
  const [first = wished ?? ''] = costPreference === 'economy' ? cheapestFirst(ids, prices) : ids
  return {model: first, registryHit: ids.includes(first), fallback: wished !== undefined && wished !== first}
}

/** The sort is stable, so that equal prices keep the order of the registry. */
const cheapestFirst = (ids: readonly string[], prices: ModelPrices): string[] =>
  ids.toSorted((a, b) => (priceOf(a, prices) ?? assumedPrice) - (priceOf(b, prices) ?? assumedPrice))

const priceOf = (model: string, prices: ModelPrices): number | undefined =>
  Object.hasOwn(prices, model) ? prices[model] : undefined

/** Cost of a number of tokens in US dollars; 0 if the price is unknown. */
export const costOf = (model: string, tokens: number, prices: ModelPrices): number =>
  (tokens / 1000) * (priceOf(model, prices) ?? 0)

/** Provider of all models that run on the inference server, in records of their use. */
export const localProvider = 'local'
