import {createHash} from 'node:crypto'
import {type SubmitTaskV1, withoutUndefined} from '../contracts/index.js'
import {SvcError} from '../errors/index.js'
import {
  appendEvent,
  appendLineage,
  appendPlanLineage,
  readSubmission,
  requireEnabled,
  requireTask,
} from '../tasks/index.js'
import type {WorkspaceContext} from '../workspace/index.js'
import {complexityOf} from './drafting/kind.js'
import {requirePlan} from './plan-rows.js'
import {singleTaskMembers} from './submission.js'
import type {PlanMode} from './vocabulary.js'

/** Why a goal is worked on in a certain way. */
export type RouteReason =
  /** The submission names the mode. */
  | 'planning_mode'
  /** It has members that only a single task can have. */
  | 'single_task_members'
  | 'names_workflow'
  | 'complexity'
  | 'dependencies'
  | 'tool_hints'
  /** The previous plan of the session covered its goal badly. */
  | 'prior_adequacy'
  | 'simple'
  /** It is not in the percentage of goals that are planned. */
  | 'rollout'

/** How a submitted goal is worked on. */
export interface GoalRoute {
  mode: PlanMode
  strategy: 'immediate_act' | 'sequential_dag' | 'workflow_handoff'
  /** 1 to 10, estimated from the number of words. */
  complexity: number
  reasons: readonly RouteReason[]
  /** The decision is only recorded: the goal is submitted as one task. */
  isShadow: boolean
}

/** A goal up to this complexity is submitted as one task, unless a threshold below is reached. */
const simplest = 3
/** Values from which a goal is planned first, whatever its wording. */
const thresholds = {complexity: 6, dependencies: 3, toolHints: 4}
/** Quality score below which the previous plan of the session counts as bad. */
const badScore = 0.6

const workflowWords = /\b(?:workflow|pipeline)s?\b/i

/**
 * Decides how a submitted goal is worked on. Undefined if there is nothing to decide: the router is off, or the
 * submission asks for a single task.
 * @throws orchestrator_disabled, stopped; task_invalid, task_path_escapes and the errors of `planExec` if the submission is
 *   invalid, or asks for a plan with members that only a single task can have
 */
export function routeGoal(context: WorkspaceContext, submission: SubmitTaskV1): GoalRoute | undefined {
  const {planning_mode: mode = 'auto'} = submission
  const {planningRouterEnabled, planningShadowMode} = context.config
  if (mode === 'direct' || (mode === 'auto' && !planningRouterEnabled)) return undefined
  requireEnabled(context)
  const task = readSubmission(submission, context)
  const complexity = complexityOf(task.description)
  if (mode === 'auto') {
    const routed = chooseStrategy(context, submission, task, complexity)
    const isShadow = planningShadowMode && routed.strategy !== 'immediate_act'
    return {mode, complexity, isShadow, ...routed}
  }
  const [member] = singleTaskMembers(submission)
  if (member !== undefined)
    throw new SvcError('task_invalid', {
      place: 'The task',
      fault: `its ${member} cannot be combined with planning_mode ${mode}`,
    })
  const strategy = mode === 'force_plan' ? 'sequential_dag' : 'workflow_handoff'
  return {mode, complexity, strategy, reasons: ['planning_mode'], isShadow: false}
}

function chooseStrategy(
  context: WorkspaceContext,
  submission: SubmitTaskV1,
  task: ReturnType<typeof readSubmission>,
  complexity: number,
): Pick<GoalRoute, 'strategy' | 'reasons'> {
  const {planningWorkflowHandoffEnabled, planningRolloutPercent} = context.config
  if (singleTaskMembers(submission).length > 0) return {strategy: 'immediate_act', reasons: ['single_task_members']}
  const isWorkflow = planningWorkflowHandoffEnabled && workflowWords.test(task.description)
  const reasons: RouteReason[] = isWorkflow ? ['names_workflow'] : planReasons(context, task, complexity)
  if (reasons.length === 0) return {strategy: 'immediate_act', reasons: ['simple']}
  if (rolloutSlot(task.description) >= planningRolloutPercent)
    return {strategy: 'immediate_act', reasons: [...reasons, 'rollout']}
  return {strategy: isWorkflow ? 'workflow_handoff' : 'sequential_dag', reasons}
}

/** The reasons for planning a goal before work on it begins. */
function planReasons(
  context: WorkspaceContext,
  {session_id, complexity: declared, request}: ReturnType<typeof readSubmission>,
  complexity: number,
): RouteReason[] {
  const found: readonly (readonly [RouteReason, boolean])[] = [
    ['complexity', complexity > simplest || declared >= thresholds.complexity],
    ['dependencies', request.depends_on.length >= thresholds.dependencies],
    ['tool_hints', request.tool_hints.length >= thresholds.toolHints],
    ['prior_adequacy', (priorScore(context, session_id) ?? 1) < badScore],
  ]
  return found.filter(([, isMet]) => isMet).map(([reason]) => reason)
}

/** Quality score of the latest plan of a session, 0 to 1. */
const priorScore = ({store, repositoryId}: WorkspaceContext, sessionId: string | undefined): number | undefined =>
  sessionId === undefined
    ? undefined
    : store.get<{score: number}>(
        `SELECT v.quality_score AS score FROM plan_sessions s
  JOIN plan_versions v ON v.plan_session_id = s.plan_session_id AND v.version = s.current_version
WHERE s.repository_id = ? AND s.origin_session_id = ? ORDER BY s.created_at DESC, s.rowid DESC LIMIT 1`,
        [repositoryId, sessionId],
      )?.score

/** A number from 0 to 99 that is always the same for a goal. */
const rolloutSlot = (goal: string): number => createHash('sha256').update(goal.trim()).digest().readUInt32BE(0) % 100

/** Records a decision with the task or the plan of the goal, as an event and in the lineage. */
export function recordRoute(
  context: WorkspaceContext,
  {mode, strategy, complexity, reasons, isShadow}: GoalRoute,
  {goal_type, goal_scope}: SubmitTaskV1,
  subject: {taskId: number} | {planId: string},
): void {
  const facts = {
    planning_mode: mode,
    strategy,
    complexity,
    reasons: [...reasons],
    ...withoutUndefined({shadow: isShadow ? (true as const) : undefined, goal_type, goal_scope}),
  }
  if ('taskId' in subject) {
    appendEvent(context, {type: 'planning_routed', ...facts, task_id: subject.taskId})
    appendLineage(context, 'planning_routed', requireTask(context, subject.taskId), facts)
  } else {
    appendEvent(context, {type: 'planning_routed', ...facts, plan_session_id: subject.planId})
    appendPlanLineage(context, 'planning_routed', requirePlan(context, subject.planId), facts)
  }
}
