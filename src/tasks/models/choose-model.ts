import type {ModelEntry} from '../../inference-client/index.js'
import type {Task} from '../base/task.js'

/** US dollars per 1,000 tokens, by the name of the model. */
export type ModelPrices = Readonly<Record<string, number>>

export type CostPreference = 'performance' | 'economy'

/** The price that a model without one is taken to have where models are compared, US dollars per 1,000 tokens. */
export const assumedPrice = 0.003

export interface ModelChoice {
  /** The name to ask the server for. */
  model: string
  /** Whether it is among the models that are known. */
  registryHit: boolean
  /** Whether the task wished for another one, which is not known. */
  fallback: boolean
}

/**
 * The model of a task: the one that it demands, else the one that it wishes for where that is known, else the first of
 * the registry; under `economy` the cheapest of the registry instead, the earlier one of two that cost the same.
 */
export function chooseModel(
  registry: readonly Pick<ModelEntry, 'id'>[],
  {model_override: demanded, model_preference: wished}: Pick<Task, 'model_override' | 'model_preference'>,
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

/** What so many tokens cost, US dollars: nothing where the price is not known. */
export const costOf = (model: string, tokens: number, prices: ModelPrices): number =>
  (tokens / 1000) * (priceOf(model, prices) ?? 0)
