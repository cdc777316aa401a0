import {wordsOf} from './clauses.js'
import {asksForChange, pathsIn} from './files.js'
import {complexityOf} from './kind.js'
import {type QualityFinding, qualityOf} from './quality.js'
import type {DraftStep} from './step.js'

/** Why a plan covers less than its goal. */
export type AdequacyCode =
  | 'too_few_steps'
  | 'mega_steps'
  | 'flat_dependencies'
  | 'goal_paths_unlinked'
  | 'low_surface'
  | 'repeated_phrasing'

/** What a step leaves open. */
export type Gap = QualityFinding | 'mega_step' | 'no_files'

export interface StepGaps {
  /** Position of the step, from 1. */
  step: number
  /** 0 to 1. */
  risk: number
  gaps: readonly Gap[]
}

export interface Adequacy {
  /** 0 to 1. */
  score: number
  tooThin: boolean
  codes: readonly AdequacyCode[]
  /** Mean risk of all steps, 0 to 1. */
  meanRisk: number
  /** Only the steps with gaps. */
  gaps: readonly StepGaps[]
}

const minSteps: readonly (readonly [maxComplexity: number, steps: number])[] = [
  [3, 1],
  [5, 2],
  [8, 4],
  [9, 6],
  [10, 8],
]

/** A step with more words should be split. */
const megaWords = 30

const stepsNeeded = (goal: string): number => minSteps.find(([max]) => complexityOf(goal) <= max)?.[1] ?? 1

interface Plan {
  goal: string
  steps: readonly DraftStep[]
}

interface Rule {
  code: AdequacyCode
  /** Factor applied to the score; 1 if the rule finds nothing. */
  factor(plan: Plan): number
}

const when = (isSo: boolean, factor: number): number => (isSo ? factor : 1)

const rules: readonly Rule[] = [
  {
    code: 'too_few_steps',
    factor({goal, steps}) {
      const needed = stepsNeeded(goal)
      const gap = Math.max(0, needed - steps.length) / needed
      return Math.max(0.35, 1 - 0.45 * gap)
    },
  },
  {code: 'mega_steps', factor: ({steps}) => when(steps.filter(isMega).length >= 2, 0.78)},
  {
    code: 'flat_dependencies',
    factor: ({steps}) => when(steps.length >= 4 && steps.every(({dependsOn}) => dependsOn.length === 0), 0.85),
  },
  {
    code: 'goal_paths_unlinked',
    factor({goal, steps}) {
      const linked = new Set(steps.flatMap(({files}) => files.map(({path}) => path)))
      return when(
        pathsIn(goal).some((path) => !linked.has(path)),
        0.8,
      )
    },
  },
  {
    code: 'low_surface',
    factor: ({steps}) => when(steps.length >= 3 && steps.every(({files}) => files.length === 0), 0.86),
  },
  {code: 'repeated_phrasing', factor: ({steps}) => when(isRepetitive(steps), 0.88)},
]

const isMega = ({description, workflow}: DraftStep): boolean =>
  workflow === undefined && wordsOf(description).length > megaWords

/** Number of initial words that two steps should not share. */
const beginning = 4

function isRepetitive(steps: readonly DraftStep[]): boolean {
  const beginnings = steps.map(({description}) => wordsOf(description.toLowerCase()).slice(0, beginning).join(' '))
  return new Set(beginnings).size < beginnings.length
}

const gapRisks: Readonly<Record<Gap, number>> = {
  risk_destructive: 0.8,
  tbd_placeholder: 0.6,
  vague_short: 0.5,
  manifest_empty_path: 0.5,
  vague_phrase: 0.4,
  mega_step: 0.4,
  no_files: 0.2,
}

function gapsOf(step: DraftStep, isForced: boolean): Gap[] {
  if (step.workflow !== undefined) return []
  const gaps: Gap[] = isForced ? [] : qualityOf(step)
  if (isMega(step)) gaps.push('mega_step')
  if (step.files.length === 0 && asksForChange(step.description)) gaps.push('no_files')
  return gaps
}

/** The probability that at least one gap matters, if gaps are independent. */
const riskOf = (gaps: readonly Gap[]): number => round(1 - gaps.reduce((safe, gap) => safe * (1 - gapRisks[gap]), 1))

/** Rounds to three decimals; more would suggest false precision. */
const round = (value: number): number => Math.round(value * 1000) / 1000

/**
 * Estimates from the wording whether a plan covers its goal.
 * @param isForced the caller has justified steps that look risky or vague
 */
export function assess(goal: string, steps: readonly DraftStep[], isForced = false): Adequacy {
  const found = rules.map(({code, factor}) => ({code, factor: factor({goal, steps})})).filter(({factor}) => factor < 1)
  const score = round(found.reduce((product, {factor}) => product * factor, 1))
  const risks = steps.map((step, i): StepGaps => {
    const gaps = gapsOf(step, isForced)
    return {step: i + 1, risk: riskOf(gaps), gaps}
  })
  const meanRisk = round(risks.reduce((sum, {risk}) => sum + risk, 0) / Math.max(1, risks.length))
  return {
    score,
    tooThin: (found.length > 0 && score < 0.82) || score < 0.58 || meanRisk > 0.32,
    codes: found.map(({code}) => code),
    meanRisk,
    gaps: risks.filter(({gaps}) => gaps.length > 0),
  }
}
