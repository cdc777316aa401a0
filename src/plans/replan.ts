import {SvcError} from '../errors/index.js'
import {
  appendEvent,
  appendPlanLineage,
  cancelRow,
  requireRow,
  type TaskContext,
  withoutUndefined,
} from '../tasks/index.js'

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
  /** What is to be different from what the goal said so far. */
  delta: string
  mode?: PlanMode | undefined
  /** Steps that somebody else has made; made from the goal when left out. */
  steps?: readonly DraftStep[] | undefined
  /** The version that was looked at when they were made; where there is another one by now, they are refused. */
  version?: number | undefined
  forceRiskyReason?: string | undefined
}

export interface Replanned extends Plan {
  replan_version: number
}

/**
 * What `replan` makes its steps from: the goal with what is new about it, and its files; and the version that this is
 * about.
 * @throws plan_not_found, plan_goal_invalid
 */
export function replanRequest(
  context: TaskContext,
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
 * Makes a plan anew, with more about its goal. What is completed stays; everything else of the version before is
 * superseded, and its tasks are cancelled. The new version waits for somebody to have it executed.
 * @throws plan_not_found, planning_disabled, plan_goal_invalid, plan_mode_unsupported, plan_changed, plan_rejected
 */
export function replan(context: TaskContext, planId: string, request: Replan): Replanned {
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
 * The nodes that are completed, and after them one for each step that none of these has done. What waits for a step that
 * is done already waits for everything that this step was to wait for.
 */
function withCompleted(
  context: TaskContext,
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

/** For each step the completed node that has done it, if any. A node stands for one step, however often it is asked for. */
function doneSteps(steps: readonly DraftStep[], completed: readonly PlanNode[]): (string | undefined)[] {
  const queues = new Map<string, string[]>()
  for (const node of completed.filter(({workflow}) => workflow === null))
    queues.set(wording(node), [...(queues.get(wording(node)) ?? []), node.node_id])
  // What checks the work checks it again.
  return steps.map((step) => (step.workflow === undefined ? queues.get(wording(step))?.shift() : undefined))
}

/** The places of steps, still to be done, that a step waits for: itself, and through steps that are done. */
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

/** Takes what is not over out of the version that is replaced: nodes, and the tasks that do them. */
function supersede(context: TaskContext, {plan_session_id: id, current_version: from}: PlanRow, to: number): void {
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
export function emitReplan(
  context: TaskContext,
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
