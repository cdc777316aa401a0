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
