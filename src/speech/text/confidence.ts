import type {Segment, SpeechModelDescription} from '../model/model.js'

export type RefineProfile = 'conservative' | 'balanced' | 'aggressive'

/** Settings of the confidence in a refined transcript, which is not acoustic. */
export interface RefineSettings {
  conservativeBase: number
  balancedBase: number
  aggressiveBase: number
  penaltyPerTrace: number
  penaltyCap: number
  confidenceMin: number
  confidenceMax: number
}

export const defaultRefineSettings: RefineSettings = {
  conservativeBase: 0.82,
  balancedBase: 0.87,
  aggressiveBase: 0.9,
  penaltyPerTrace: 0.015,
  penaltyCap: 0.25,
  confidenceMin: 0.1,
  confidenceMax: 0.99,
}

/** Returns the confidence, 0 to 1: the base of the profile minus a penalty per correction. */
export function refineConfidence(profile: RefineProfile, corrections: number, settings: RefineSettings): number {
  const penalty = Math.min(settings.penaltyPerTrace * corrections, settings.penaltyCap)
  const confidence = settings[`${profile}Base`] - penalty
  return fourDecimals(Math.max(settings.confidenceMin, Math.min(settings.confidenceMax, confidence)))
}

/**
 * Returns the confidence of the model: exp of the mean log-probability of the tokens, 0 to 1; undefined without tokens.
 * A segment with unknown tokens counts as one token.
 */
export function asrConfidence(segments: readonly Pick<Segment, 'avgLogprob' | 'tokens'>[]): number | undefined {
  const weights = segments.map(({tokens}) => Math.max(1, tokens.length))
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  if (total === 0) return undefined
  const logprob = segments.reduce((sum, {avgLogprob}, i) => sum + avgLogprob * (weights[i] ?? 0), 0)
  return fourDecimals(Math.min(1, Math.exp(logprob / total)))
}

/**
 * Confidence of the model below which a text is probably wrong. Whisper decodes again below its value, `exp(-1)`; CTC models
 * are more certain of each letter.
 */
const minAsrConfidence = {whisper: 0.37, ctc: 0.6}

/** True if the model probably did not understand the recording. */
export const isUnreliable = (family: SpeechModelDescription['family'], confidence: number | undefined): boolean =>
  confidence !== undefined && confidence < minAsrConfidence[family]

/** True if the confidence is below the threshold of tools, so that the user should be asked. */
export const clarificationRecommended = (confidence: number, minConfidence: number): boolean =>
  confidence < Math.max(0, Math.min(1, minConfidence))

/** Rounds to four decimals. */
export const fourDecimals = (value: number): number => Math.round(value * 1e4) / 1e4
