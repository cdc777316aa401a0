import {excerpt} from '../../errors/index.js'
import {confidenceFormula as formula, type SocratesThresholds} from '../../workspace/index.js'
import type {EvidenceContext} from './evidence.js'

export type ConfidenceBand = 'low' | 'medium' | 'high'
export type RiskDecision = 'answer' | 'ask' | 'abstain'

/** How well the evidence supports an answer, and what to do. Numbers are between 0 and 1. */
export interface Judgement {
  risk_decision: RiskDecision
  confidence_estimate: number
  contradiction_ratio: number
  band: ConfidenceBand
  citation_coverage: number
  /** Absent if the decision is to answer. */
  research?: ResearchSuggestion
}

export interface ResearchSuggestion {
  should_research: true
  trigger: 'fabricated_tool_claims' | 'contradiction' | 'missing_citations' | 'low_confidence'
  suggested_query?: string
}

const decisions: Readonly<Record<ConfidenceBand, RiskDecision>> = {high: 'answer', medium: 'ask', low: 'abstain'}

/**
 * Judges how well the evidence supports an answer.
 * @param question basis of the suggested query, such as the description of the task
 */
export function judgeEvidence(context: EvidenceContext, policy: SocratesThresholds, question?: string): Judgement {
  const citationCoverage = clamp(context.citation_coverage)
  // An agent that reports tool calls it did not make gets no credit for its evidence.
  const isFabricated = (context.fabricated_tool_claims ?? []).length > 0
  const confidence = isFabricated ? 0 : confidenceOf(context, policy)
  const contradiction = isFabricated ? 1 : contradictionOf(context.contradiction_hints)
  const band = isFabricated ? 'low' : bandOf(confidence, contradiction, citationCoverage, policy)
  return {
    risk_decision: decisions[band],
    confidence_estimate: confidence,
    contradiction_ratio: contradiction,
    band,
    citation_coverage: citationCoverage,
    ...(band !== 'high' && {
      research: {
        should_research: true,
        trigger: isFabricated ? 'fabricated_tool_claims' : triggerOf(context, contradiction, policy),
        ...(question !== undefined && question.trim() !== '' && {suggested_query: queryOf(question)}),
      },
    }),
  }
}

/** Limits a number to 0 to 1. Rounding lets a sum such as 0.43 - 0.08 reach its threshold. Invalid numbers are 0. */
const clamp = (value: number): number =>
  Number.isFinite(value) ? Math.round(Math.min(1, Math.max(0, value)) * 1e9) / 1e9 : 0

const lacksCitations = ({required_citations: required, evidence_count: count}: EvidenceContext): boolean =>
  !(required <= 0 || count >= required)

function confidenceOf(context: EvidenceContext, {abstainThreshold}: SocratesThresholds): number {
  const quality = clamp(context.evidence_quality)
  const {required_citations: required, evidence_count: count} = context
  const shape = context.retrieval_diagnosis?.evidence_shape ?? ''
  const shapePenalty = Object.hasOwn(formula.shapePenalties, shape) ? (formula.shapePenalties[shape] ?? 0) : 0
  const isVerified = context.verification_performed && quality >= formula.minQualityForVerificationBonus
  const steps: readonly ((confidence: number) => number)[] = [
    (c) => c + (isRanked(context.retrieval_tier) ? formula.rankedRetrievalBonus : 0),
    (c) => c - (context.retrieval_used_lexical_fallback === true ? formula.lexicalFallbackPenalty : 0),
    (c) => c * (context.factual_mode && lacksCitations(context) ? abstainThreshold : 1),
    (c) => c + formula.qualityBonus * quality,
    (c) => c + (context.source_diversity > 1 ? formula.diverseSourcesBonus : 0),
    (c) => c + (isVerified ? formula.verificationBonus : 0),
    (c) => c - shapePenalty,
  ]
  const coverage = required === 0 ? 1 : clamp(count / required)
  const start = Math.max(coverage, clamp(context.citation_coverage))
  return steps.reduce((confidence, step) => clamp(step(confidence)), start)
}

const isRanked = (tier = ''): boolean => ['hybrid', 'bm25'].includes(tier.toLowerCase())

/** Share of contradictory evidence. An invalid number of hints counts as a complete contradiction. */
function contradictionOf(hints: number): number {
  if (!Number.isFinite(hints)) return 1
  const count = Math.max(0, Math.trunc(hints))
  return clamp(formula.contradictionOfFewHints[count] ?? count * formula.contradictionPerHint)
}

function bandOf(
  confidence: number,
  contradiction: number,
  citationCoverage: number,
  {abstainThreshold, askForHelpThreshold, maxContradictionRatioForAnswer}: SocratesThresholds,
): ConfidenceBand {
  if (confidence < abstainThreshold) return 'low'
  if (contradiction > maxContradictionRatioForAnswer)
    return citationCoverage >= formula.minCoverageForLowBand ? 'low' : 'medium'
  return confidence < askForHelpThreshold ? 'medium' : 'high'
}

function triggerOf(
  context: EvidenceContext,
  contradiction: number,
  {maxContradictionRatioForAnswer}: SocratesThresholds,
): ResearchSuggestion['trigger'] {
  if (contradiction > maxContradictionRatioForAnswer) return 'contradiction'
  return lacksCitations(context) ? 'missing_citations' : 'low_confidence'
}

/** Maximum length of a suggested query, characters. */
const maxQueryLength = 200

const queryOf = (question: string): string => {
  const [line = ''] = question.trim().split('\n')
  return excerpt(line.trim(), maxQueryLength)
}
