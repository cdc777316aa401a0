/** The enumerations of plans. */

/** How a goal is approached. Only `immediate_act` and `sequential_dag` are created by this program. */
export const planStrategies = [
  'immediate_act',
  'continuous_ooda',
  'sequential_dag',
  'hierarchical_htn',
  'workflow_handoff',
] as const
export type PlanStrategy = (typeof planStrategies)[number]

export const nodeStatuses = [
  'pending',
  'queued',
  'in_progress',
  'completed',
  'failed',
  'cancelled',
  'superseded',
] as const
export type NodeStatus = (typeof nodeStatuses)[number]

/** The requested approach: automatic, as one step, as several steps, or by a workflow. */
export const planModes = ['auto', 'direct', 'force_plan', 'workflow_only'] as const
export type PlanMode = (typeof planModes)[number]

/** In a `failed` plan nothing can continue; the latest version of a `pending` plan has not been executed. */
export const planStatuses = ['pending', 'active', 'completed', 'failed'] as const
export type PlanStatusWord = (typeof planStatuses)[number]

/** Verdict of the quality gate on a version; `pending` if the gate is off. */
export type Verdict = 'pending' | 'accepted' | 'flagged'

/** Failures of a node that trigger replanning. */
export type ReplanTrigger =
  | 'compiler_error_unresolved'
  | 'test_failure_new_regression'
  | 'scope_denied'
  | 'lock_conflict_persistent'
  | 'missing_capability'
  | 'external_dependency_unreachable'
  | `custom:${string}`

export const planDepths = ['minimal', 'standard', 'deep'] as const
export type PlanDepth = (typeof planDepths)[number]

export const loopModes = ['off', 'auto', 'force'] as const
export type LoopMode = (typeof loopModes)[number]
