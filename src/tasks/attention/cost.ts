import {promptCostShares} from '../../workspace/index.js'
import {clamp} from '../base/clamp.js'

/** How often the user was interrupted lately, and so how much another interruption costs. */
export type FocusDepth = 'ambient' | 'focused' | 'deep'

/** Factors of the prompt cost. */
export const focusFactors: Readonly<Record<FocusDepth, number>> = {ambient: 1, focused: 1.12, deep: 1.35}

/** @param perHour average number of interruptions per hour */
export function focusDepth(perHour: number): FocusDepth {
  if (perHour >= 8) return 'deep'
  return perHour >= 3 ? 'focused' : 'ambient'
}

/** Share of the budget that is spent; a budget of 0 is exhausted from the start. */
export const spentRatio = (spentMs: number, maxMs: number): number => (maxMs <= 0 ? 1 : spentMs / maxMs)

export interface TaskCostFactors {
  /** 1 to 10. */
  complexity: number
  /** Tokens that the task is expected to write. */
  outputTokens: number
  priority: 'urgent' | 'normal' | 'background'
  /** Interruptions that the user rejected. */
  rejected: number
  /** Trust in the agent, 0 to 1. */
  trust: number
  /** Tasks in progress, with this one. */
  concurrent: number
}

/** Weights of the cost of a task, by the scales of the NASA task load index (TLX). */
export interface TlxWeights {
  mental: number
  temporal: number
  frustration: number
  trustDiscount: number
}

const urgency = {urgent: 1, normal: 0.5, background: 0.2} as const

/** Attention that a task takes as a multiple of the cost of one interruption. */
export function attentionWeight(task: TaskCostFactors, weights: TlxWeights): number {
  const mental = clamp((0.4 * task.complexity + 0.6 * Math.min(10, task.outputTokens / 1000)) / 10, 0, 1)
  const frustration = task.rejected / (task.rejected + 5)
  const load =
    weights.mental * mental +
    weights.temporal * urgency[task.priority] +
    weights.frustration * frustration +
    weights.trustDiscount * (1 - task.trust)
  return load * clamp(1 + 0.3 * (task.concurrent - 1), 1, 3)
}

/** Attention that a task takes, in milliseconds. @param baseMs cost of one interruption */
export const interruptCost = (task: TaskCostFactors, weights: TlxWeights, baseMs: number): number =>
  baseMs * attentionWeight(task, weights)

export interface PromptCostFactors {
  /** Effort to answer, 0 to 1. */
  userCost: number
  /** Questions that wait for an answer. */
  backlog: number
  /** Trust in the agent that asks, 0 to 1. */
  trust: number
  focus: FocusDepth
  /** Share of the evidence that contradicts itself, 0 to 1. */
  contradiction: number
}

/** Attention that a question takes, in whole milliseconds. @param baseMs cost of one interruption */
export function promptCost(
  {userCost, backlog, trust, focus, contradiction}: PromptCostFactors,
  baseMs: number,
): number {
  const cost =
    baseMs *
    clamp(userCost, 0.05, 1) *
    (1 + promptCostShares.backlog * backlog) *
    (1 - promptCostShares.trust * trust) *
    focusFactors[focus] *
    (1 + promptCostShares.contradiction * contradiction)
  return Math.max(1, Math.round(cost))
}
