import {strictConfidence} from '../../workspace/index.js'
import type {Finding} from '../base/finding.js'
import {citationsOf} from './citations.js'
import type {CompletionEvidence} from './evidence.js'
import {error, info, warning} from './findings.js'
import type {Gate} from './gate.js'
import {type Judgement, judgeEvidence} from './judge-evidence.js'

/** Requires that the sources of an answer support it. */
export const socrates: Gate = {
  name: 'socrates',
  family: 'socrates',
  mode({config, blocksLowConfidence}) {
    if (config.socratesGateEnforce || blocksLowConfidence) return 'enforce'
    return config.socratesGateShadow ? 'shadow' : 'off'
  },
  relaxes: (evidence) => !lacksStrictConfidence(evidence, judge(evidence)),
  evaluate(evidence) {
    const judgement = judge(evidence)
    if (judgement === undefined)
      return [info('socrates/no_evidence_context', 'The task has no evidence context: its answer is not judged.')]
    return [...decisionFindings(evidence, judgement), ...strictFindings(evidence, judgement)]
  },
  details(evidence) {
    const judgement = judge(evidence)
    if (judgement === undefined) return undefined
    const {research: _, ...members} = judgement
    return members
  },
}

/** Citations that the context envelope contains count as evidence. */
function judge(evidence: CompletionEvidence): Judgement | undefined {
  const {context, policy, task} = evidence
  if (context === undefined) return undefined
  const count = Math.max(context.evidence_count, citationsOf(evidence).matched.length)
  return judgeEvidence({...context, evidence_count: count}, policy, task.description)
}

function decisionFindings({config, blocksLowConfidence}: CompletionEvidence, judgement: Judgement): Finding[] {
  if (judgement.risk_decision === 'answer') return []
  // If only the agent asks for the gate, its own limits decide.
  const severity = blocksLowConfidence && !config.socratesGateEnforce ? warning : error
  return [
    severity(
      'socrates/not-supported',
      `The evidence does not support the answer: ${describe(judgement)}, decision ${judgement.risk_decision}. ` +
        'Add sources, or resolve their contradictions.',
    ),
  ]
}

function strictFindings(evidence: CompletionEvidence, judgement: Judgement): Finding[] {
  if (!lacksStrictConfidence(evidence, judgement)) return []
  const {minConfidence, maxContradictionRatio} = strictConfidence
  return [
    error(
      'socrates/low-confidence',
      `The agent requests a confidence of at least ${minConfidence} and a contradiction of at most ` +
        `${maxContradictionRatio}: ${describe(judgement)}. Add sources, or resolve their contradictions.`,
    ),
  ]
}

const lacksStrictConfidence = ({blocksLowConfidence}: CompletionEvidence, judgement: Judgement | undefined): boolean =>
  blocksLowConfidence &&
  judgement !== undefined &&
  (judgement.confidence_estimate < strictConfidence.minConfidence ||
    judgement.contradiction_ratio > strictConfidence.maxContradictionRatio)

const describe = ({confidence_estimate: confidence, contradiction_ratio: contradiction, band}: Judgement): string =>
  `confidence ${confidence.toFixed(2)} (${band}), contradiction ${contradiction.toFixed(2)}`
