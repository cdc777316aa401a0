import {type CostPreference, localProvider, type ModelChoice} from '../../inference-client/index.js'
import type {Task} from '../base/task.js'

/** Maximum length of a name in a reason, which keeps its JSON below 4096 bytes for any characters. */
const maxCharacters = 256

export interface RoutingReasonPolicy {
  costPreference: CostPreference
  /** Name of the experiment that marks its decisions. */
  unifiedRouting: boolean
}

/** The `reason_json` of a row of `routing_decisions`. Work that is not a task has no id. */
export const routingReason = (
  {id, category, complexity}: {id?: number | undefined} & Pick<Task, 'category' | 'complexity'>,
  {model, registryHit, fallback}: ModelChoice,
  {costPreference, unifiedRouting}: RoutingReasonPolicy,
) => ({
  schema_version: 1,
  task_category: category,
  estimated_complexity: complexity,
  usage_provider: localProvider,
  usage_model: model.slice(0, maxCharacters),
  registry_hit: registryHit,
  cost_preference: costPreference,
  fallback,
  ...(unifiedRouting ? {unified_routing_env: true} : {}),
  route_policy_profile: 'default',
  ...(id === undefined ? {} : {task_id: id}),
})
