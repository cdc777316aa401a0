import type {OrchestratorContext} from '../context.js'
import {appendEvent} from '../events/event-log.js'
import {appendPlanLineage} from '../events/lineage.js'
import {cancelRow} from '../tasks/cancel.js'
import {requireRow} from '../tasks/task-rows.js'
import {wordsOf} from './drafting/clauses.js'
import {usualLimit} from './drafting/from-goal.js'
import type {DraftStep} from './drafting/step.js'
import {type DraftRequest, draftSteps, requireGoal, withFindings} from './new-plan.js'
import {nodeOf, type PlanNode} from './node.js'
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
import {requirePlanning, strategyOf} from './planning.js'
import {review} from './review.js'
import {type Plan, viewPlan} from './view.js'
import type {PlanMode} from './words.js'

export interface Replan {
  /** What is to be different from what the goal said so far. */
  delta: string
  mode?: PlanMode | undefined
  /** Steps that somebody else has made; made from the goal when left out. */
  steps?: readonly DraftStep[] | undefined
  forceRiskyReason?: string | undefined
}

export interface Replanned extends Plan {
  replan_version: number
}

/** What `replan` makes its steps from: the goal with what is new about it. @throws plan_not_found, plan_goal_invalid */
export function replanRequest(
  context: OrchestratorContext,
  planId: string,
  {delta, mode}: Pick<Replan, 'delta' | 'mode'>,
): DraftRequest {
  requireGoal(delta)
  const plan = requirePlan(context, planId)
  const {length} = nodesOf(context, plan.plan_session_id, plan.current_version)
  const goal = `${plan.goal_text.trimEnd()}\n\n## Replan context\n${delta.trim()}`
  return {goal, mode, maxTasks: Math.max(usualLimit, length)}
}

/**
 * Makes a plan anew, with more about its goal. What is completed stays; everything else of the version before is
 * superseded, and its tasks are cancelled. The new version waits for somebody to have it executed.
 * @throws plan_not_found, planning_disabled, plan_goal_invalid, plan_mode_unsupported, plan_rejected
 */
export function replan(context: OrchestratorContext, planId: string, request: Replan): Replanned {
  requirePlanning(context)
  const {delta, mode = 'auto', forceRiskyReason} = request
  const strategy = strategyOf(mode)
  return context.store.transaction(() => {
    const plan = requirePlan(context, planId)
    const {plan_session_id: id, current_version: parent} = plan
    const draft = replanRequest(context, planId, {delta, mode})
    const steps = request.steps ?? draftSteps(context, draft)
    const reviewed = review(context, draft.goal, steps, forceRiskyReason)
    const {nodes, idOf} = withCompleted(context, plan, steps, forceRiskyReason)
    const version = parent + 1
    insertVersion(context, id, {
      version,
      parent,
      trigger: {event: 'replan', payload: {delta}},
      quality_score: reviewed.adequacy.score,
      reviewer_verdict: reviewed.verdict,
      nodes,
    })
    supersede(context, plan, version)
    updatePlan(context, id, {goal_text: draft.goal, strategy, current_version: version, status: 'pending'})
    tellReplan(context, plan, version, {reason: 'replan'})
    return {...withFindings(viewPlan(context, requirePlan(context, id)), reviewed, idOf), replan_version: version}
  })
}

/** The nodes that are completed, and after them one for each step that none of these has done. */
function withCompleted(
  context: OrchestratorContext,
  {plan_session_id: id, current_version: version}: PlanRow,
  steps: readonly DraftStep[],
  forceRiskyReason: string | undefined,
): {nodes: PlanNode[]; idOf: (place: number) => string} {
  const completed = nodesOf(context, id, version).filter(({status}) => status === 'completed')
  const done = new Map(completed.filter(({workflow}) => workflow === null).map((node) => [wording(node), node.node_id]))
  let number = nextNodeNumber(context, id)
  // What checks the work checks it again.
  const ids = steps.map((step) => (step.workflow === undefined ? done.get(wording(step)) : undefined) ?? `n${number++}`)
  const known = new Set(completed.map(({node_id}) => node_id))
  const idOf = (place: number): string => ids[place] as string
  const added = steps.map((step, i) => nodeOf(step, i, idOf, {forceRiskyReason}))
  return {nodes: [...completed, ...added.filter(({node_id}) => !known.has(node_id))], idOf}
}

const wording = ({description}: {description: string}): string => wordsOf(description.toLowerCase()).join(' ')

/** Takes what is not over out of the version that is replaced: nodes, and the tasks that do them. */
function supersede(
  context: OrchestratorContext,
  {plan_session_id: id, current_version: from}: PlanRow,
  to: number,
): void {
  const {store} = context
  carryTasks(context, id, from, to)
  supersedeOpen(context, id, from)
  const open = store.all<{task_id: number}>(
    `SELECT p.task_id FROM plan_node_tasks p JOIN orch_tasks t ON t.id = p.task_id
WHERE p.plan_session_id = ? AND p.version = ? AND t.status NOT IN ('Completed', 'Failed', 'Cancelled') ORDER BY p.task_id`,
    [id, from],
  )
  for (const {task_id: taskId} of open)
    cancelRow(context, requireRow(context, taskId), `superseded by version ${to} of ${id}`)
}

/** Tells that there is another version, and why. */
export function tellReplan(
  context: OrchestratorContext,
  plan: PlanRow,
  version: number,
  {reason, taskId}: {reason: string; taskId?: number},
): void {
  const {plan_session_id} = plan
  const task = taskId === undefined ? {} : {task_id: taskId}
  appendEvent(context, {type: 'plan_version_created', plan_session_id, version, parent_version: version - 1})
  appendEvent(context, {type: 'replan_triggered', plan_session_id, version, reason, ...task})
  appendPlanLineage(context, 'plan_replan_triggered', plan, {version, reason}, taskId)
}
