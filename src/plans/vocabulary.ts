/** The words of plans, each list once. */

/** How a goal is gone about. Only `immediate_act` and `sequential_dag` are made here. */
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

/** How a caller wants a goal gone about: as it seems best, as one step, as steps, or handed to a workflow. */
export const planModes = ['auto', 'direct', 'force_plan', 'workflow_only'] as const
export type PlanMode = (typeof planModes)[number]

/** `failed` is a plan in which nothing can go on, `pending` one whose latest version nobody has had executed. */
export const planStatuses = ['pending', 'active', 'completed', 'failed'] as const
export type PlanStatusWord = (typeof planStatuses)[number]

/** How the gate on the quality of a version went; `pending` where it is switched off. */
export type Verdict = 'pending' | 'accepted' | 'flagged'

/** What must be read in the error of a failed node for the plan to be made anew. */
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
