import {type ManifestEntry, withoutUndefined} from '../contracts/index.js'
import {decideTests, type Task} from '../tasks/index.js'
import type {WorkspaceContext} from '../workspace/index.js'
import type {QualityFinding} from './drafting/quality.js'
import type {PlanNode} from './node.js'
import {nodesOf, type PlanRow, versionOf} from './plan-rows.js'
import type {NodeStatus, PlanStrategy, Verdict} from './vocabulary.js'

/** A step as published by every interface. */
export interface PlanStep {
  /** Position in its version, from 1. */
  id: number
  node_id: string
  description: string
  /** Positions of the steps that this step depends on. */
  depends_on: number[]
  status: NodeStatus
  files: readonly ManifestEntry[]
  category: string
  /** 1 to 10. */
  complexity: number
  workflow?: string
  test_decision: ReturnType<typeof decideTests>['decision']
  /** Reason for the test decision. */
  test_rationale: string
}

export interface PlanVersion {
  version: number
  /** 0 to 1: how well the steps cover the goal, estimated from their wording. */
  quality_score: number
  reviewer_verdict: Verdict
  steps: PlanStep[]
}

export interface Plan {
  session_id: string
  goal: string
  strategy: PlanStrategy
  summary: string
  versions: [PlanVersion]
  /** Problems with steps, if the plan was reviewed. */
  findings?: {node_id: string; codes: readonly QualityFinding[]}[]
}

export function viewPlan(context: WorkspaceContext, plan: PlanRow): Plan {
  const {plan_session_id: session_id, goal_text: goal, strategy} = plan
  const steps = stepsOf(context, nodesOf(context, session_id, plan.current_version))
  const summary = `${steps.length} plan node(s) materialized`
  return {session_id, goal, strategy, summary, versions: [{...versionOf(context, plan), steps}]}
}

export function stepsOf({config}: WorkspaceContext, nodes: readonly PlanNode[]): PlanStep[] {
  const places = new Map(nodes.map(({node_id: id}, i) => [id, i + 1]))
  return nodes.map(({node_id, description, depends_on, policy, status, workflow}, i) => {
    const {file_manifest: files, enqueue_hints: hints} = policy
    const category = (hints?.task_category ?? 'general') as Task['category']
    const complexity = hints?.complexity ?? 5
    const tests = decideTests({files, category, complexity}, config.testDecisionPolicy)
    return {
      id: i + 1,
      node_id,
      description,
      depends_on: depends_on.flatMap((id) => places.get(id) ?? []),
      status,
      files,
      category,
      complexity,
      ...withoutUndefined({workflow: workflow ?? undefined}),
      test_decision: tests.decision,
      test_rationale: tests.rationale,
    }
  })
}
