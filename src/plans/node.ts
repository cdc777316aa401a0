import {type ManifestEntry, withoutUndefined} from '../tasks/index.js'
import type {DraftStep} from './drafting/step.js'
import type {NodeStatus, ReplanTrigger} from './vocabulary.js'

/** What a node's task may do, and what becomes of the plan where it fails. */
export interface ExecutionPolicy {
  allowed_skills: readonly string[]
  allowed_action_labels: readonly ('read' | 'write' | 'execute')[]
  file_manifest: readonly ManifestEntry[]
  enqueue_hints?: {task_category: string; complexity: number; execution_role?: string}
  /** The node is taken although its text looks risky or vague; somebody said why. */
  force_risky: boolean
  force_risky_reason?: string
  replan_triggers: readonly ReplanTrigger[]
  /** How often the plan may be made anew because of this node, without anybody asking for it. */
  max_retries: number
  timeout_ms?: number
}

/** A step of a version, as it is kept. */
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
 * New nodes from steps.
 * @param idOf id of the node that a step becomes or already is, by its place
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
