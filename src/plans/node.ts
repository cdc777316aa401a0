import {type ManifestEntry, withoutUndefined} from '../contracts/index.js'
import type {DraftStep} from './drafting/step.js'
import type {NodeStatus, ReplanTrigger} from './vocabulary.js'

/** Permissions of a node's task, and the reaction of the plan to its failure. */
export interface ExecutionPolicy {
  allowed_skills: readonly string[]
  allowed_action_labels: readonly ('read' | 'write' | 'execute')[]
  file_manifest: readonly ManifestEntry[]
  enqueue_hints?: {task_category: string; complexity: number; execution_role?: string}
  /** The node was accepted with a justification although its text looks risky or vague. */
  force_risky: boolean
  force_risky_reason?: string
  replan_triggers: readonly ReplanTrigger[]
  /** Maximum number of automatic replans because of this node. */
  max_retries: number
  timeout_ms?: number
}

/** A stored step of a version. */
export interface PlanNode {
  node_id: string
  description: string
  /** Ids of nodes of the same version. */
  depends_on: readonly string[]
  policy: ExecutionPolicy
  status: NodeStatus
  workflow: string | null
}

export function policyOf(step: DraftStep, {forceRiskyReason, maxRetries = 1}: PolicyOptions): ExecutionPolicy {
  const {files, category, complexity, role, triggers} = step
  return {
    allowed_skills: [],
    allowed_action_labels: ['read', 'write', 'execute'],
    file_manifest: files,
    enqueue_hints: {task_category: category, complexity, ...withoutUndefined({execution_role: role})},
    force_risky: forceRiskyReason !== undefined,
    ...withoutUndefined({force_risky_reason: forceRiskyReason}),
    replan_triggers: triggers,
    max_retries: maxRetries,
  }
}

interface PolicyOptions {
  forceRiskyReason?: string | undefined
  maxRetries?: number
}

/**
 * Creates nodes from steps.
 * @param idOf id of the new or existing node of the step at a position
 */
export const nodeOf = (
  step: DraftStep,
  place: number,
  idOf: (place: number) => string,
  options: PolicyOptions,
): PlanNode => ({
  node_id: idOf(place),
  description: step.description,
  depends_on: step.dependsOn.map(idOf),
  policy: policyOf(step, options),
  status: 'pending',
  workflow: step.workflow ?? null,
})
