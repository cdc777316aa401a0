import {withoutUndefined} from '../contracts/index.js'
import type {Task} from '../tasks/index.js'
import type {WorkspaceContext} from '../workspace/index.js'
import {advancePlan} from './advance.js'
import {assess} from './drafting/adequacy.js'
import type {DraftStep} from './drafting/step.js'
import {isTestFailure, triggerMet} from './drafting/triggers.js'
import {nodeOf, type PlanNode} from './node.js'
import {nodeOfTask} from './node-status.js'
import {
  carryTasks,
  insertVersion,
  nextNodeNumber,
  nodesOf,
  type PlanRow,
  requirePlan,
  supersedeOpen,
  updatePlan,
} from './plan-rows.js'
import {emitReplan} from './replan.js'
import type {ReplanTrigger} from './vocabulary.js'

const maxReasonLength = 2000

/**
 * Replans after the failure of a task if its node has a matching trigger and the settings allow automatic replanning.
 * In the new version the node is done again; a failed test is reproduced first. All other nodes continue unchanged.
 * @returns true if a new version was created
 */
export function replanAfterFailure(context: WorkspaceContext, taskId: number, failure: string): boolean {
  const lost = lostNode(context, taskId, failure)
  if (lost === undefined) return false
  const {plan, nodes, failed, trigger} = lost
  const {plan_session_id: id, current_version: parent} = plan
  const version = parent + 1
  const reason = failure.slice(0, maxReasonLength)
  const steps = recoverySteps(failed, reason)
  insertVersion(context, id, {
    version,
    parent,
    trigger: {event: 'task_failed', payload: {task_id: taskId, reason, trigger}},
    quality_score: assess(plan.goal_text, steps).score,
    reviewer_verdict: 'pending',
    nodes: replaced(nodes, failed, steps, nextNodeNumber(context, id)),
  })
  carryTasks(context, id, parent, version)
  supersedeOpen(context, id, parent)
  updatePlan(context, id, {current_version: version, status: 'active'})
  emitReplan(context, plan, version, {reason: trigger, taskId})
  advancePlan(context, requirePlan(context, id))
  return true
}

interface LostNode {
  plan: PlanRow
  /** Nodes of the latest version. */
  nodes: readonly PlanNode[]
  failed: PlanNode
  trigger: ReplanTrigger
}

/** The node of a failed task, if its plan should be replanned because of it. */
function lostNode(context: WorkspaceContext, taskId: number, failure: string): LostNode | undefined {
  const {planningEnabled, planningReplanEnabled} = context.config
  const found = planningEnabled && planningReplanEnabled ? nodeOfTask(context, taskId) : undefined
  if (found === undefined) return undefined
  const plan = requirePlan(context, found.plan_session_id)
  if (found.version !== plan.current_version || plan.status === 'pending') return undefined
  const nodes = nodesOf(context, plan.plan_session_id, plan.current_version)
  const failed = nodes.find(({node_id}) => node_id === found.node_id)
  if (failed === undefined || failed.policy.max_retries < 1) return undefined
  const trigger = triggerMet(failed.policy.replan_triggers, failure)
  return trigger === undefined ? undefined : {plan, nodes, failed, trigger}
}

/** The steps that replace a failed node. */
function recoverySteps({description, policy}: PlanNode, reason: string): DraftStep[] {
  const {file_manifest: files, enqueue_hints: hints, replan_triggers: triggers} = policy
  const again = {
    description: `${description}\n\nA previous attempt failed:\n${reason}`,
    files,
    category: (hints?.task_category ?? 'general') as Task['category'],
    complexity: hints?.complexity ?? 5,
    ...withoutUndefined({role: hints?.execution_role as Task['execution_role']}),
    triggers,
  }
  if (!isTestFailure(reason)) return [{...again, dependsOn: []}]
  const reproduce: DraftStep = {
    description: `Reproduce this failure and report its cause:\n${reason}`,
    dependsOn: [],
    files: files.map(({path}) => ({path, access: 'read'})),
    category: 'debugging',
    complexity: again.complexity,
    role: 'reproducer',
    triggers: [],
  }
  return [reproduce, {...again, dependsOn: [0]}]
}

/** The nodes of a version with one node replaced: its dependants depend on the last of the new nodes. */
function replaced(
  nodes: readonly PlanNode[],
  failed: PlanNode,
  steps: readonly DraftStep[],
  number: number,
): PlanNode[] {
  const idOf = (place: number) => `n${number + place}`
  const last = idOf(steps.length - 1)
  const maxRetries = failed.policy.max_retries - 1
  const added = steps.map((step, i): PlanNode => {
    const node = nodeOf(step, i, idOf, {forceRiskyReason: failed.policy.force_risky_reason, maxRetries})
    const workflow = i === steps.length - 1 ? failed.workflow : null
    return {...node, workflow, depends_on: i === 0 ? failed.depends_on : node.depends_on}
  })
  return nodes.flatMap((node) =>
    node === failed ? added : [{...node, depends_on: node.depends_on.map((id) => (id === failed.node_id ? last : id))}],
  )
}
