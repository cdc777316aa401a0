import type {ListenV1} from '../contracts/index.js'
import {clarificationRecommended, type LiveSession, type SessionLimits, type SessionResult} from '../speech/index.js'
import type {UsedTranscript} from './routing/use-transcript.js'

export interface ListenPayloadOptions {
  /** Path of the recording, `-` or `mic`. */
  path: string
  limits: SessionLimits
  languageHint: string | undefined
  /** Confidence below which the user should be asked. */
  minConfidence: number
}

/** The result of `svc listen` and `svc_speech_listen`. @param used what the transcript was used for */
export function listenPayload(
  result: SessionResult,
  session: Pick<LiveSession, 'id' | 'correlationId' | 'ended'>,
  {path, limits, languageHint, minConfidence}: ListenPayloadOptions,
  {route, envelope, gaps, question, polished}: UsedTranscript,
): ListenV1 {
  const {rawText, trace} = result.transcript
  const {utterances, nBest: candidates, language, totalMs, transcribeMs, diagnostics} = result.details
  const {text, confidence, report} = polished
  const nBest = candidates === undefined ? {} : {n_best: [...candidates]}
  return {
    correlation_id: session.correlationId,
    session: {
      session_id: session.id,
      path,
      raw_text: rawText,
      refined_text: text,
      text,
      confidence,
      language_hint: languageHint ?? null,
      language_diagnostics: language ?? {raw: languageHint ?? null, normalized: null, notes: []},
      correction_trace: [...trace],
      ...nBest,
      utterances,
      timings: {
        total_ms: Math.round(totalMs),
        transcribe_ms: transcribeMs,
        capture_timeout_ms: limits.captureTimeoutMs ?? null,
        max_duration_ms: limits.maxDurationMs ?? null,
        effective_inference_deadline_ms: limits.inferenceDeadlineMs ?? null,
      },
      state: session.ended.aborted ? 'failed' : 'completed',
      deadline_diagnostics: [...diagnostics],
    },
    route,
    clarification_recommended: clarificationRecommended(confidence, minConfidence),
    ...nBest,
    ...(envelope === undefined
      ? {}
      : {
          intent_envelope: envelope,
          speech_escalation_recommended: route.payload.speech_escalation_recommended === true,
        }),
    ...(gaps.length === 0 ? {} : {intent_slot_gaps: [...gaps]}),
    ...(question === undefined ? {} : {slot_clarification: question}),
    llm_refinement: report,
  }
}
