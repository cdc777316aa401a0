import {SvcError} from '../../errors/index.js'
import type {WorkspaceContext} from '../../workspace/index.js'
import {assess} from '../drafting/adequacy.js'
import {usualLimit} from '../drafting/from-goal.js'
import type {DraftStep} from '../drafting/step.js'
import {type DraftRequest, draftSteps, requireGoal, scopePaths} from '../new-plan.js'
import {requirePlanning} from '../planning.js'
import type {PlanDepth} from '../vocabulary.js'
import {modelFailure, openPlanModel, type PlanModel} from './plan-model.js'
import {againPrompt, firstPrompt, type PlanQuestion} from './prompts.js'
import {readSteps} from './read-steps.js'
import {type Draft, type Drafting, type RefinementRequest, refine} from './refine.js'

export interface ModelDraftRequest extends DraftRequest {
  depth?: PlanDepth | undefined
  /** Default: no refinement. */
  refinement?: RefinementRequest | undefined
}

/** Maximum number of tokens of the first answer, and of each refinement. */
const ceilings: Readonly<Record<PlanDepth, {first: number; round: number}>> = {
  minimal: {first: 3072, round: 6144},
  standard: {first: 4096, round: 8192},
  deep: {first: 8192, round: 12_288},
}

/**
 * Drafts the steps of a goal with a model and refines them on request. Falls back to the goal alone if no model returns
 * a plan. Nothing is stored.
 * @throws planning_disabled, plan_goal_invalid, task_path_escapes; the reason of the signal
 */
export async function draftWithModel(
  context: WorkspaceContext,
  request: ModelDraftRequest,
  drafting: Drafting,
): Promise<Draft> {
  requirePlanning(context)
  requireGoal(request.goal)
  const {goal, maxTasks: limit = usualLimit, depth = context.config.planningDepth} = request
  const scope = scopePaths(context, request)
  const question: PlanQuestion = {goal, scope, limit, depth}
  const rounds = request.refinement?.maxRounds ?? 0
  drafting.report?.({done: 0, total: 1 + rounds, message: 'Asking a model for a plan'})
  const model = await openPlanModel(context, drafting)
  try {
    const steps = await stepsOrNone(context, model, question, drafting)
    if (steps === undefined) return {...unrefined(goal, draftSteps(context, request)), madeBy: 'goal', depth}
    const draft: Draft = {...unrefined(goal, steps), madeBy: 'model', depth}
    if (request.refinement === undefined) return draft
    return await refine(context, draft, {
      model,
      question,
      request: request.refinement,
      maxTokens: ceilings[depth].round,
      drafting,
    })
  } finally {
    await model.close()
  }
}

const unrefined = (goal: string, steps: DraftStep[]) => ({steps, adequacy: assess(goal, steps), rounds: 0, tokens: 0})

/** The model's steps; undefined, with a notice, if it returns none. */
async function stepsOrNone(
  context: WorkspaceContext,
  model: PlanModel,
  question: PlanQuestion,
  {signal, notice}: Drafting,
): Promise<DraftStep[] | undefined> {
  try {
    return await askForSteps(context, model, question)
  } catch (error) {
    notice(`notice: drafting the plan without a model: ${modelFailure(error, signal).message}`)
    return undefined
  }
}

/** Asks once, and again if the answer is not a plan. @throws plan_model_answer */
async function askForSteps(context: WorkspaceContext, model: PlanModel, question: PlanQuestion): Promise<DraftStep[]> {
  const options = {root: context.root, limit: question.limit}
  const prompt = firstPrompt(question)
  const {first: maxTokens} = ceilings[question.depth]
  const first = readSteps((await model.ask(prompt, maxTokens)).text, options)
  if ('steps' in first) return first.steps
  const second = readSteps((await model.ask(againPrompt(prompt, first.fault), maxTokens)).text, options)
  if ('steps' in second) return second.steps
  throw new SvcError('plan_model_answer', {fault: second.fault})
}
