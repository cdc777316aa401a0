import type {WorkspaceContext} from '../../workspace/index.js'
import {type Adequacy, assess} from '../drafting/adequacy.js'
import type {DraftStep} from '../drafting/step.js'
import type {LoopMode, PlanDepth} from '../vocabulary.js'
import {modelFailure, type PlanAnswer, type PlanModel, type PlanModelOptions, tokensOfText} from './plan-model.js'
import {type PlanQuestion, refinePrompt} from './prompts.js'
import {readSteps} from './read-steps.js'

/** Limits and conditions of refinement. */
export interface RefinementRequest {
  mode: LoopMode
  /** Refine a thin or risky plan even if the mode is `off`. */
  autoExpand: boolean
  maxRounds: number
  /** Token budget of all rounds, questions and answers. */
  budgetTokens: number
  /** Mean risk of the steps, 0 to 1, above which a plan is refined. */
  riskThreshold: number
}

export type StopReason = 'sufficient' | 'rounds_exhausted' | 'budget_exhausted' | 'no_improvement' | 'model_failed'

/** Drafted steps and their origin. */
export interface Draft {
  steps: DraftStep[]
  madeBy: 'model' | 'goal'
  depth: PlanDepth
  adequacy: Adequacy
  /** Number of refinement requests to the model. */
  rounds: number
  /** Tokens used by these requests. */
  tokens: number
  /** Why refinement stopped; absent if nothing needed refinement. */
  stopReason?: StopReason
}

export interface Drafting extends PlanModelOptions {
  /** Receives messages for the user. */
  notice: (text: string) => void
  /** Called before every question. */
  report?: (progress: {done: number; total: number; message: string}) => void
}

/** Maximum number of rounds if none were requested but the plan is thin or risky. */
const maxUnasked = 4
/** With fewer tokens left, an answer would be cut off. */
const minTokens = 256

interface Refining {
  model: PlanModel
  question: PlanQuestion
  request: RefinementRequest
  /** Maximum length of one answer in tokens. */
  maxTokens: number
  drafting: Drafting
}

/**
 * Refines a plan until it is good enough, the rounds or tokens are used up, or the model has no improvement. Keeps the
 * best plan.
 */
export async function refine(context: WorkspaceContext, first: Draft, refining: Refining): Promise<Draft> {
  const {request} = refining
  const max = request.mode === 'off' ? Math.min(request.maxRounds, maxUnasked) : request.maxRounds
  if (!wantsMore(request, first.adequacy)) return first
  let best = first
  let stopReason: StopReason = 'rounds_exhausted'
  while (best.rounds < max) {
    const prompt = refinePrompt(refining.question, best.steps, best.adequacy)
    const left = request.budgetTokens - best.tokens - tokensOfText(prompt)
    if (left < minTokens) {
      stopReason = 'budget_exhausted'
      break
    }
    const next = await round(context, best, {...refining, prompt, maxTokens: Math.min(refining.maxTokens, left)})
    best = next.draft
    if (next.stop !== undefined) {
      stopReason = next.stop
      break
    }
  }
  return {...best, stopReason}
}

/** True if a plan should be refined: always with `force`, otherwise if it is thin or risky. */
function wantsMore({mode, autoExpand, riskThreshold}: RefinementRequest, {tooThin, meanRisk}: Adequacy): boolean {
  if (mode === 'force') return true
  return (mode === 'auto' || autoExpand) && (tooThin || meanRisk > riskThreshold)
}

interface Round {
  draft: Draft
  stop?: StopReason
}

async function round(
  context: WorkspaceContext,
  best: Draft,
  {model, question, request, drafting, prompt, maxTokens}: Refining & {prompt: string},
): Promise<Round> {
  const rounds = best.rounds + 1
  drafting.report?.({done: rounds, total: 1 + request.maxRounds, message: `Refining the plan, round ${rounds}`})
  let answer: PlanAnswer
  try {
    answer = await model.ask(prompt, maxTokens)
  } catch (error) {
    reportEnd(drafting, modelFailure(error, drafting.signal).message)
    return {draft: {...best, rounds}, stop: 'model_failed'}
  }
  const tokens = best.tokens + answer.tokens
  const read = readSteps(answer.text, {root: context.root, limit: question.limit})
  if ('fault' in read) {
    reportEnd(drafting, `The model did not return a valid plan: ${read.fault}.`)
    return {draft: {...best, rounds, tokens}, stop: 'model_failed'}
  }
  const adequacy = assess(question.goal, read.steps)
  const isForced = request.mode === 'force'
  const gain = worthOf(adequacy) - worthOf(best.adequacy)
  const draft = {
    ...best,
    rounds,
    tokens,
    ...(gain > 0 || (isForced && gain === 0) ? {steps: read.steps, adequacy} : {}),
  }
  if (isForced) return {draft}
  if (!wantsMore(request, draft.adequacy)) return {draft, stop: 'sufficient'}
  return gain > 0 ? {draft} : {draft, stop: 'no_improvement'}
}

/** The quality of a plan: its coverage minus its risk. */
const worthOf = ({score, meanRisk}: Adequacy): number => score - meanRisk

const reportEnd = ({notice}: Drafting, why: string): void => notice(`notice: the plan was not refined further: ${why}`)
