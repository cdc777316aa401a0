import type {Task} from '../base/task.js'
import type {CostPreference, ModelChoice} from './choose-model.js'

/** Longest name that a reason holds: with it, a reason stays below 4096 bytes of JSON whatever the characters. */
const mostCharacters = 256

export interface RoutingReasonPolicy {
  costPreference: CostPreference
  /** The experiment that marks its decisions. */
  unifiedRouting: boolean
}

/** Why work was given to its model: the `reason_json` of a row of `routing_decisions`. Work that is no task has no id. */
export const routingReason = (
  {id, category, complexity}: {id?: number | undefined} & Pick<Task, 'category' | 'complexity'>,
  {model, registryHit, fallback}: ModelChoice,
  {costPreference, unifiedRouting}: RoutingReasonPolicy,
) => ({
  schema_version: 1,
  task_category: category,
  estimated_complexity: complexity,
  usage_provider: localProvider,
  usage_model: model.slice(0, mostCharacters),
  registry_hit: registryHit,
  cost_preference: costPreference,
  fallback,
  ...(unifiedRouting ? {unified_routing_env: true} : {}),
  route_policy_profile: 'default',
  ...(id === undefined ? {} : {task_id: id}),
})

/** Every model that tasks are given to is behind the inference server. */
export const localProvider = 'local'
