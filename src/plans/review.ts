import {SvcError} from '../errors/index.js'
import {logger} from '../log/index.js'
import type {TaskContext} from '../tasks/index.js'
import {type Adequacy, assess} from './drafting/adequacy.js'
import {type QualityFinding, qualityOf} from './drafting/quality.js'
import type {DraftStep} from './drafting/step.js'
import type {Verdict} from './vocabulary.js'

/** What is wrong with a plan, and how good it is. */
export interface Review {
  verdict: Verdict
  adequacy: Adequacy
  /** Of the steps with which something is wrong, by place from 0. */
  findings: ReadonlyMap<number, readonly QualityFinding[]>
}

/**
 * Holds a plan to what a plan should be. Where that is only watched, what is wrong is told; where it is enforced, the
 * plan is refused.
 * @param forceRiskyReason why steps that look risky or vague are taken nevertheless
 * @throws plan_rejected
 */
export function review(
  {config}: TaskContext,
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
    ...(forceRiskyReason === undefined ? found.map(([i, each]) => `step ${i + 1} is ${each.join(' and ')}`) : []),
    ...(adequacy.tooThin ? [thinness(adequacy)] : []),
  ]
  if (faults.length === 0) return {verdict: 'accepted', adequacy, findings}
  if (isEnforced) throw new SvcError('plan_rejected', {faults})
  logger('svc.orchestrator.plans').info({faults, score: adequacy.score}, 'plan flagged')
  return {verdict: 'flagged', adequacy, findings}
}

const thinness = ({score, codes, meanRisk}: Adequacy): string =>
  `the plan is too thin (score ${score}, risk ${meanRisk}${codes.length === 0 ? '' : `, ${codes.join(', ')}`})`
