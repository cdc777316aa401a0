import {SvcError} from '../errors/index.js'
import {logger} from '../log/index.js'
import type {WorkspaceContext} from '../workspace/index.js'
import {type Adequacy, assess} from './drafting/adequacy.js'
import {findingTexts, type QualityFinding, qualityOf} from './drafting/quality.js'
import type {DraftStep} from './drafting/step.js'
import type {Verdict} from './vocabulary.js'

/** The problems of a plan and its quality. */
export interface Review {
  verdict: Verdict
  adequacy: Adequacy
  /** Findings of each step with problems, by position from 0. */
  findings: ReadonlyMap<number, readonly QualityFinding[]>
}

/**
 * Reviews a plan. In watch mode problems are logged; in enforcement mode the plan is rejected.
 * @param forceRiskyReason justification for steps that look risky or vague
 * @throws plan_rejected
 */
export function review(
  {config}: WorkspaceContext,
  goal: string,
  steps: readonly DraftStep[],
  forceRiskyReason: string | undefined,
): Review {
  const adequacy = assess(goal, steps, forceRiskyReason !== undefined)
  const {planAdequacyShadow: isWatched, planAdequacyEnforce: isEnforced} = config
  if (!isWatched && !isEnforced) return {verdict: 'pending', adequacy, findings: new Map()}
  const found = steps.map((step, i) => [i, qualityOf(step)] as const).filter(([, each]) => each.length > 0)
  const findings = new Map(found)
  const faults = [
    ...(forceRiskyReason === undefined
      ? found.map(([i, each]) => `step ${i + 1} ${each.map((finding) => findingTexts[finding]).join(' and ')}`)
      : []),
    ...(adequacy.tooThin ? [thinness(adequacy)] : []),
  ]
  if (faults.length === 0) return {verdict: 'accepted', adequacy, findings}
  if (isEnforced) throw new SvcError('plan_rejected', {faults})
  logger('svc.orchestrator.plans').info({faults, score: adequacy.score}, 'plan flagged')
  return {verdict: 'flagged', adequacy, findings}
}

const thinness = ({score, codes, meanRisk}: Adequacy): string =>
  `the plan is too thin (score ${score}, risk ${meanRisk}${codes.length === 0 ? '' : `, ${codes.join(', ')}`})`
