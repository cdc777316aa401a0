import {randomUUID} from 'node:crypto'
import {withoutUndefined} from '../contracts/index.js'
import {SvcError} from '../errors/index.js'
import {appendEvent, appendPlanLineage, maxLengths, normaliseManifest, normalisePath} from '../tasks/index.js'
import type {WorkspaceContext} from '../workspace/index.js'

import {stepsFromGoal} from './drafting/from-goal.js'
import type {DraftStep} from './drafting/step.js'
import {nodeOf} from './node.js'
import {insertVersion, requirePlan} from './plan-rows.js'
import {requirePlanning, strategyOf} from './planning.js'
import {type Review, review} from './review.js'
import type {CarriedSubmission} from './submission.js'
import {type Plan, viewPlan} from './view.js'
import type {PlanMode, PlanStrategy} from './vocabulary.js'

export interface NewPlan {
  goal: string
  /** Session of the goal; the plan has an id of its own. */
  originSessionId?: string | undefined
  /** Session of the questions whose answers the plan is based on. */
  questionSessionId?: string | undefined
  tenantId?: string | undefined
  mode?: PlanMode | undefined
  /** Default: the strategy of the mode. */
  strategy?: PlanStrategy | undefined
  /** What its tasks take over from the submission of the goal. */
  submission?: CarriedSubmission | undefined
  /** Files of the goal. */
  scopeFiles?: readonly string[] | undefined
  /** Maximum number of steps. */
  maxTasks?: number | undefined
  /** Externally drafted steps; default: drafted from the goal. */
  steps?: readonly DraftStep[] | undefined
  /** Justification for steps that look risky or vague. */
  forceRiskyReason?: string | undefined
  /** How the steps were refined. */
  refinement?: Refinement | undefined
}

/** The number of refinement requests to the model, and why they stopped. */
export interface Refinement {
  rounds: number
  stopReason?: string | undefined
  metadata: object
}

/**
 * Creates a plan for a goal and stores it. Does not submit any tasks.
 * @throws planning_disabled, plan_goal_invalid, plan_id_too_long, plan_mode_unsupported, task_path_escapes,
 *   plan_rejected
 */
export function newPlan(context: WorkspaceContext, request: NewPlan): Plan {
  requirePlanning(context)
  const {goal, mode = 'auto', forceRiskyReason} = request
  requireGoal(goal)
  const {originSessionId, questionSessionId, tenantId} = request
  requireIds({session_id: originSessionId, tenant_id: tenantId})
  requireIds({session_id: questionSessionId})
  const strategy = request.strategy ?? strategyOf(mode)
  const steps = request.steps ?? draftSteps(context, request)
  const reviewed = review(context, goal, steps, forceRiskyReason)
  const scope = scopePaths(context, request)
  const id = `plan-${randomUUID()}`
  return context.store.transaction(() => {
    insertPlan(context, id, strategy, {...request, scope})
    insertVersion(context, id, {
      version: 1,
      quality_score: reviewed.adequacy.score,
      reviewer_verdict: reviewed.verdict,
      nodes: steps.map((step, i) => nodeOf(step, i, firstIds, {forceRiskyReason})),
    })
    appendEvent(context, {type: 'plan_session_created', plan_session_id: id, strategy, nodes: steps.length})
    appendEvent(context, {type: 'plan_version_created', plan_session_id: id, version: 1})
    appendPlanLineage(context, 'plan_session_created', requirePlan(context, id), {strategy, nodes: steps.length})
    return withFindings(viewPlan(context, requirePlan(context, id)), reviewed, firstIds)
  })
}

/**
 * Drafts the steps of a goal without a model. Paths outside the workspace that the goal names are ignored.
 * @throws task_path_escapes if the scope leaves the workspace
 */
export function draftSteps(context: WorkspaceContext, request: DraftRequest): DraftStep[] {
  const {root} = context
  const {goal, maxTasks, mode} = request
  const steps = stepsFromGoal({
    goal,
    scope: scopePaths(context, request),
    direct: mode === 'direct',
    ...withoutUndefined({limit: maxTasks}),
  })
  return steps.map((step) => ({...step, files: normaliseManifest(root, step.files)}))
}

/** Files of a goal, relative to the root of the workspace. @throws task_path_escapes */
export const scopePaths = ({root}: WorkspaceContext, {scopeFiles = []}: Pick<NewPlan, 'scopeFiles'>): string[] =>
  scopeFiles.map((path) => normalisePath(root, path))

export type DraftRequest = Pick<NewPlan, 'goal' | 'scopeFiles' | 'maxTasks' | 'mode'>

/** Maximum length of a goal, and of an addition to one, characters. */
const maxGoalLength = 65_536

/** @throws plan_goal_invalid */
export function requireGoal(goal: string): void {
  if (goal.trim() === '') throw new SvcError('plan_goal_invalid', {fault: 'is blank'})
  if (goal.length > maxGoalLength)
    throw new SvcError('plan_goal_invalid', {fault: `has ${goal.length} characters; the limit is ${maxGoalLength}`})
}

/** Applies the length limits of tasks, because the ids are passed to them. @throws plan_id_too_long */
export function requireIds(ids: {session_id?: string | undefined; tenant_id?: string | undefined}): void {
  for (const [name, id] of Object.entries(withoutUndefined(ids))) {
    const limit = maxLengths[name as keyof typeof ids]
    if (id.length > limit) throw new SvcError('plan_id_too_long', {name, length: id.length, limit})
  }
}

const firstIds = (place: number): string => `n${place + 1}`

/** @param idOf node id of the step at a position */
export function withFindings(plan: Plan, {findings}: Review, idOf: (place: number) => string): Plan {
  if (findings.size === 0) return plan
  return {...plan, findings: [...findings].map(([place, codes]) => ({node_id: idOf(place), codes}))}
}

function insertPlan(
  {store, repositoryId, now}: WorkspaceContext,
  id: string,
  strategy: string,
  {
    goal,
    originSessionId,
    questionSessionId,
    tenantId,
    refinement,
    submission,
    scope,
  }: NewPlan & {scope: readonly string[]},
): void {
  const at = now()
  store.run(
    `INSERT INTO plan_sessions (plan_session_id, repository_id, origin_session_id, tenant_id, goal_text, scope_files_json,
  strategy, question_session_id, iterative_loop_round, iterative_stop_reason, iterative_loop_metadata_json, submission_json,
  created_at, updated_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      id,
      repositoryId,
      originSessionId?.trim() || null,
      tenantId?.trim() || null,
      goal,
      JSON.stringify(scope),
      strategy,
      questionSessionId?.trim() || null,
      refinement?.rounds ?? 0,
      refinement?.stopReason ?? null,
      refinement === undefined ? null : JSON.stringify(refinement.metadata),
      submission === undefined ? null : JSON.stringify(submission),
      at,
      at,
    ],
  )
}
