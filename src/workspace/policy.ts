/**
 * Confidence thresholds, 0 to 1; the last two are percentages. All thresholds of confidence are in this file; settings
 * override these one by one.
 */
const socratesDefaults = {
  abstainThreshold: 0.35,
  askForHelpThreshold: 0.55,
  maxContradictionRatioForAnswer: 0.4,
  minPersistConfidence: 0.6,
  minTrainingPairConfidence: 0.75,
  minReviewFindingConfidence: 80,
  minPromptReportConfidence: 80,
}

export type SocratesThresholds = typeof socratesDefaults

/** The thresholds in effect: the defaults with the overrides of the configuration. */
export const confidencePolicy = (overrides: Readonly<Partial<SocratesThresholds>>): SocratesThresholds => ({
  ...socratesDefaults,
  ...overrides,
})

/**
 * How sure the scan of files is of a finding, in percent, by severity: rules of severity `warning` and below are
 * heuristics.
 */
export const scanConfidence = {critical: 100, error: 100, warning: 85, info: 80} as const

/** How sure the check of a description is of what it found, in percent. */
export const promptConfidence = {injection: 80, conflict: 90} as const

/** Constants of the confidence formula. They are added to or subtracted from a confidence between 0 and 1. */
export const confidenceFormula = {
  rankedRetrievalBonus: 0.05,
  lexicalFallbackPenalty: 0.08,
  /** Multiplied by the quality of the evidence, 0 to 1. */
  qualityBonus: 0.1,
  diverseSourcesBonus: 0.04,
  verificationBonus: 0.03,
  /** Minimum quality of the evidence for the verification bonus. */
  minQualityForVerificationBonus: 0.6,
  shapePenalties: {contradictory: 0.1, empty: 0.12, narrow: 0.03} as Readonly<Record<string, number>>,
  /** Contradiction ratio for 0, 1 and 2 hints. */
  contradictionOfFewHints: [0, 0.15, 0.28],
  /** Contradiction ratio per hint if there are more. */
  contradictionPerHint: 0.22,
  /** Contradictory evidence with at least this citation coverage is of low instead of medium confidence. */
  minCoverageForLowBand: 0.3,
} as const

/**
 * Limits of clarifying questions. Gains are in bits; costs to the user and confidences are between 0 and 1; times are in
 * milliseconds.
 */
export const questioningPolicy = {
  maxTurns: 3,
  minGainBits: 0.08,
  maxUserCost: 0.8,
  /** Lower costs count as this cost when gains are compared, so that free questions have a finite utility. */
  minUserCost: 0.05,
  /** Assumed for a question without an estimate. */
  assumedGainBits: 0.3,
  assumedUserCost: 0.4,
  targetConfidence: 0.72,
  maxAttentionMs: 3_600_000,
} as const

/** Limits for agents that request strict evidence even if the gate is off. */
export const strictConfidence = {minConfidence: 0.7, maxContradictionRatio: 0.3} as const

/** Confidence and contradiction that are assumed for a submission, before anything is known about its answer. */
export const submissionConfidence = {
  risky: {confidence: 0.4, contradiction: 0.2},
  other: {confidence: 0.68, contradiction: 0.08},
} as const

/** Share of the cost of a question that full trust saves, and what a waiting question and a full contradiction add. */
export const promptCostShares = {trust: 0.25, backlog: 0.22, contradiction: 0.35} as const
