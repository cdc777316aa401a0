import {orAborted} from '../../process/index.js'
import {fourDecimals} from '../../speech/index.js'
import {type AnswerFault, type PolishAnswer, parsePolishAnswer, polishSchema} from './answer.js'
import type {ResolveModel} from './ask-model.js'
import {failureText, publicName} from './failure-text.js'
import {polishMessages, type Unpolished} from './request.js'
import {isPlausible, lostWord} from './surface.js'

export interface PolishOptions {
  /** The text is polished if it needs it. */
  enabled: boolean
  /** Confidence below which a text is polished, 0 to 1. */
  minConfidence: number
  /** Maximum tokens of the answer; at least 64 are allowed. */
  maxOutputTokens: number
  /** Time after which the unpolished text is returned, ms. */
  deadlineMs: number
  /** How the text is used afterwards. A text that controls tools or creates a task is always polished. */
  routeMode: 'none' | 'tool' | 'chat' | 'orchestrator'
}

/** What polishing did: the field `llm_refinement` of results. */
export type PolishReport =
  | {applied: true; llm: PolishAnswer; effective_confidence: number; corrected_text: string}
  | {applied: false; keep_original: true; llm: PolishAnswer}
  | {applied: false; skipped: true; reason: 'llm_refinement_disabled' | 'empty_transcript'}
  | {applied: false; skipped: true; reason: 'deterministic_confidence_sufficient'; deterministic_confidence: number}
  | ({applied: false} & PolishFailure)

type PolishFailure =
  | AnswerFault
  | {reason: 'model_resolve_failed' | 'infer_failed' | 'protected_token_not_preserved'; error: string}
  | {reason: 'missing_corrected_text' | 'surface_validation_failed'}

export interface Polished {
  /** The corrected text, or the refined text if there is no usable correction. */
  text: string
  /** Confidence in the text, 0 to 1: that of the model if the text is corrected and the model reports one. */
  confidence: number
  report: PolishReport
}

/** Number of corrections above which a text is polished whatever its confidence. */
const manyCorrections = 8
const minTokens = 64
const temperature = 0.1

/**
 * Lets a language model correct a transcript. Never fails: without a usable correction the text is unchanged and the
 * report has the reason. At the deadline, or when the signal aborts, the call is aborted and not awaited.
 */
export async function polish(
  transcript: Unpolished,
  options: PolishOptions,
  resolveModel: ResolveModel,
  signal: AbortSignal | undefined,
): Promise<Polished> {
  const {refinedText: text, confidence} = transcript
  const skipped = skipReport(transcript, options)
  if (skipped !== undefined) return {text, confidence, report: skipped}
  const report = await reportOf(transcript, options, resolveModel, signal)
  return report.applied
    ? {text: report.corrected_text, confidence: report.effective_confidence, report}
    : {text, confidence, report}
}

/** Returns the report if there is nothing to polish. */
function skipReport(
  {refinedText, confidence, trace}: Unpolished,
  {enabled, minConfidence, routeMode}: PolishOptions,
): PolishReport | undefined {
  if (!enabled) return {applied: false, skipped: true, reason: 'llm_refinement_disabled'}
  if (refinedText.trim() === '') return {applied: false, skipped: true, reason: 'empty_transcript'}
  const acts = routeMode === 'tool' || routeMode === 'orchestrator'
  if (confidence < minConfidence || trace.length > manyCorrections || acts) return undefined
  return {
    applied: false,
    skipped: true,
    reason: 'deterministic_confidence_sufficient',
    deterministic_confidence: confidence,
  }
}

async function reportOf(
  transcript: Unpolished,
  options: PolishOptions,
  resolveModel: ResolveModel,
  signal: AbortSignal | undefined,
): Promise<PolishReport> {
  const reply = await askWithin(transcript, options, resolveModel, signal)
  if ('failure' in reply) return {applied: false, ...reply.failure}
  const parsed = parsePolishAnswer(reply.raw)
  if ('fault' in parsed) return {applied: false, ...parsed.fault}
  const {answer: llm} = parsed
  if (llm.keep_original === true) return {applied: false, keep_original: true, llm}
  const corrected = llm.corrected_text?.trim() ?? ''
  const fault = correctionFault(corrected, transcript)
  if (fault !== undefined) return {applied: false, ...fault}
  const effective = fourDecimals(llm.confidence ?? transcript.confidence)
  return {applied: true, llm, effective_confidence: effective, corrected_text: corrected}
}

/** Why a correction is not usable; undefined if it is. */
function correctionFault(corrected: string, transcript: Unpolished): PolishFailure | undefined {
  if (corrected === '') return {reason: 'missing_corrected_text'}
  if (!isPlausible(corrected, transcript)) return {reason: 'surface_validation_failed'}
  const lost = lostWord(corrected, transcript)
  if (lost === undefined) return undefined
  return {reason: 'protected_token_not_preserved', error: `The correction does not keep ${publicName(lost)}.`}
}

/** Asks the model once, until the deadline or until the signal aborts. */
async function askWithin(
  transcript: Unpolished,
  {maxOutputTokens, deadlineMs}: PolishOptions,
  resolveModel: ResolveModel,
  signal: AbortSignal | undefined,
): Promise<{raw: string} | {failure: PolishFailure}> {
  const deadline = new AbortController()
  const timer = setTimeout(
    () => deadline.abort(new Error(`The model did not answer within ${deadlineMs} ms.`)),
    deadlineMs,
  )
  const limited = signal === undefined ? deadline.signal : AbortSignal.any([signal, deadline.signal])
  const maxTokens = Math.max(minTokens, maxOutputTokens)
  let isResolved = false
  const ask = async () => {
    limited.throwIfAborted()
    const askModel = await resolveModel(limited)
    isResolved = true
    return askModel(polishMessages(transcript), {maxTokens, temperature, format: polishSchema, signal: limited})
  }
  try {
    return {raw: await orAborted(ask(), limited)}
  } catch (error) {
    const reason = isResolved || limited.aborted ? 'infer_failed' : 'model_resolve_failed'
    return {failure: {reason, error: failureText(error)}}
  } finally {
    clearTimeout(timer)
  }
}
