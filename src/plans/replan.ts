import {withoutUndefined} from '../contracts/index.js'
import {SvcError} from '../errors/index.js'
import {appendEvent, appendPlanLineage, cancelRow, requireRow} from '../tasks/index.js'
import {notify, type WorkspaceContext} from '../workspace/index.js'

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
import type {PlanMode} from './vocabulary.js'

export interface Replan {
  /** What should change compared with the previous goal. */
  delta: string
  mode?: PlanMode | undefined
  /** Externally drafted steps; default: drafted from the goal. */
  steps?: readonly DraftStep[] | undefined
  /** Version on which the steps are based; the request is rejected if it is not the latest. */
  version?: number | undefined
  forceRiskyReason?: string | undefined
}

export interface Replanned extends Plan {
  replan_version: number
}

/**
 * The request from which `replan` drafts its steps: the extended goal, its files, and the version it is based on.
 * @throws plan_not_found, plan_goal_invalid
 */
export function replanRequest(
  context: WorkspaceContext,
  planId: string,
  {delta, mode}: Pick<Replan, 'delta' | 'mode'>,
): DraftRequest & {version: number} {
  requireGoal(delta)
  const plan = requirePlan(context, planId)
  const {current_version: version} = plan
  const scopeFiles = JSON.parse(plan.scope_files_json) as string[]
  const {length} = nodesOf(context, plan.plan_session_id, version)
  const goal = `${plan.goal_text.trimEnd()}\n\n## Replan context\n${delta.trim()}`
  requireGoal(goal)
  return {goal, scopeFiles, mode, maxTasks: Math.max(usualLimit, length), version}
}

/**
 * Replans with an addition to the goal. Completed nodes are kept. All other nodes of the previous version are
 * superseded, and their tasks are cancelled. The new version is pending until it is executed.
 * @throws plan_not_found, planning_disabled, plan_goal_invalid, plan_mode_unsupported, plan_changed, plan_rejected
 */
export function replan(context: WorkspaceContext, planId: string, request: Replan): Replanned {
  requirePlanning(context)
  const {delta, mode = 'auto', forceRiskyReason} = request
  const strategy = strategyOf(mode)
  return context.store.transaction(() => {
    const plan = requirePlan(context, planId)
    const {plan_session_id: id, current_version: parent} = plan
    if (request.version !== undefined && request.version !== parent)
      throw new SvcError('plan_changed', {plan: id, version: request.version, current: parent})
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
    emitReplan(context, plan, version, {reason: 'replan'})
    return {...withFindings(viewPlan(context, requirePlan(context, id)), reviewed, idOf), replan_version: version}
  })
}

/**
 * The completed nodes, followed by a node for each step that none of them covers. A step that depends on a completed
 * one also depends on everything that this one was to wait for.
 */
function withCompleted(
  context: WorkspaceContext,
  {plan_session_id: id, current_version: version}: PlanRow,
  steps: readonly DraftStep[],
  forceRiskyReason: string | undefined,
): {nodes: PlanNode[]; idOf: (place: number) => string} {
  const completed = nodesOf(context, id, version).filter(({status}) => status === 'completed')
  const done = doneSteps(steps, completed)
  let number = nextNodeNumber(context, id)
  const ids = steps.map((_, place) => done[place] ?? `n${number++}`)
  const idOf = (place: number): string => ids[place] as string
  const open = openBefore(steps, done)
  const added = steps.flatMap((step, place) => {
    if (done[place] !== undefined) return []
    const before = step.dependsOn.filter((each) => done[each] !== undefined)
    return [nodeOf({...step, dependsOn: [...before, ...open(place)]}, place, idOf, {forceRiskyReason})]
  })
  return {nodes: [...completed, ...added], idOf}
}

/** For each step the completed node that covers it, if any. A node covers only one step. */
function doneSteps(steps: readonly DraftStep[], completed: readonly PlanNode[]): (string | undefined)[] {
  const queues = new Map<string, string[]>()
  for (const node of completed.filter(({workflow}) => workflow === null))
    queues.set(wording(node), [...(queues.get(wording(node)) ?? []), node.node_id])
  // The verification step always runs again.
  return steps.map((step) => (step.workflow === undefined ? queues.get(wording(step))?.shift() : undefined))
}

/** Positions of the open steps that a step depends on, directly or through completed steps, or of the step itself. */
function openBefore(steps: readonly DraftStep[], done: readonly (string | undefined)[]) {
  const known = new Map<number, ReadonlySet<number>>()
  const open = (place: number): ReadonlySet<number> => {
    const found = known.get(place)
    if (found !== undefined) return found
    const before = (steps[place]?.dependsOn ?? []).flatMap((each) =>
      done[each] === undefined ? [each] : [...open(each)],
    )
    const all = new Set(before)
    known.set(place, all)
    return all
  }
  return open
}

const wording = ({description}: {description: string}): string => wordsOf(description.toLowerCase()).join(' ')

/** Marks the unfinished nodes of the replaced version as superseded and cancels their tasks. */
function supersede(context: WorkspaceContext, {plan_session_id: id, current_version: from}: PlanRow, to: number): void {
  const {store} = context
  carryTasks(context, id, from, to)
  supersedeOpen(context, id, from)
  const open = store.all<{task_id: number}>(
    `SELECT p.task_id FROM plan_node_tasks p JOIN orch_tasks t ON t.id = p.task_id
WHERE p.plan_session_id = ? AND p.version = ? AND t.status NOT IN ('Completed', 'Failed', 'Cancelled') ORDER BY p.task_id`,
    [id, from],
  )
  for (const {task_id: taskId} of open)
    cancelRow(context, requireRow(context, taskId), {
      reason: `superseded by version ${to} of ${id}`,
    })
  notify(context, 'planReplaced', {planSessionId: id, version: from})
}

/** Emits the new version and its cause. */
export function emitReplan(
  context: WorkspaceContext,
  plan: PlanRow,
  version: number,
  {reason, taskId}: {reason: string; taskId?: number},
): void {
  const {plan_session_id} = plan
  appendEvent(context, {type: 'plan_version_created', plan_session_id, version, parent_version: version - 1})
  appendEvent(context, {
    type: 'replan_triggered',
    plan_session_id,
    version,
    reason,
    ...withoutUndefined({task_id: taskId}),
  })
  appendPlanLineage(context, 'plan_replan_triggered', plan, {version, reason}, taskId)
}
