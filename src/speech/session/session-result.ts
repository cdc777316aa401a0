import type {ListenV1} from '../../contracts/index.js'
import type {Unpolished} from '../polish/request.js'
import type {UsedTranscript} from '../routing/use-transcript.js'
import {clarificationRecommended, round} from '../text/confidence.js'
import type {Correction} from '../text/correction.js'
import type {LanguageDiagnostics} from '../text/language-hint.js'
import type {FinishedUtterance, LiveSession} from './live-session.js'
import type {DeadlineDiagnostic, SessionLimits} from './session.js'

/** Corrections that a result lists; a long session has more. */
const maxCorrections = 1000

/** The utterances of a session as one result. */
export class SessionResult {
  #raw: string[] = []
  #refined: string[] = []
  #trace: Correction[] = []
  #confidence = 1
  #transcribeMs = 0
  #diagnostics: DeadlineDiagnostic[] = []
  #nBest: readonly string[] | undefined
  #language: LanguageDiagnostics | undefined
  readonly #startedAt = performance.now()

  add({event, file}: FinishedUtterance): void {
    if (event.raw_text.trim() === '') return
    this.#raw.push(event.raw_text.trim())
    this.#refined.push(event.refined_text)
    this.#trace = [...this.#trace, ...(file?.finished.trace ?? [])].slice(-maxCorrections)
    this.#confidence = Math.min(this.#confidence, event.confidence)
    this.#transcribeMs += event.timings.transcribe_ms
    this.#diagnostics = event.deadline_diagnostics
    this.#nBest = this.#raw.length === 1 ? (event.n_best ?? undefined) : undefined
    this.#language ??= file?.languageDiagnostics
  }

  /** The text of the session so far. The confidence is that of the least certain utterance. */
  get transcript(): Unpolished {
    return {
      rawText: this.#raw.join(' '),
      refinedText: this.#refined.join(' '),
      confidence: this.#raw.length === 0 ? 0 : round(this.#confidence),
      trace: this.#trace,
    }
  }

  /** The result of `svc listen` and `svc_speech_listen`. @param used what the transcript was used for */
  payload(
    session: Pick<LiveSession, 'id' | 'correlationId' | 'ended'>,
    {
      path,
      limits,
      languageHint,
      minConfidence,
    }: {path: string; limits: SessionLimits; languageHint: string | undefined; minConfidence: number},
    {route, envelope, gaps, question, polished}: UsedTranscript,
  ): ListenV1 {
    const {rawText} = this.transcript
    const {text, confidence, report} = polished
    const nBest = this.#nBest === undefined ? {} : {n_best: [...this.#nBest]}
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
        language_diagnostics: this.#language ?? {raw: languageHint ?? null, normalized: null, notes: []},
        correction_trace: this.#trace,
        ...nBest,
        utterances: this.#raw.length,
        timings: {
          total_ms: Math.round(performance.now() - this.#startedAt),
          transcribe_ms: this.#transcribeMs,
          capture_timeout_ms: limits.timeoutMs ?? null,
          max_duration_ms: limits.maxDurationMs ?? null,
          effective_inference_deadline_ms: limits.inferenceDeadlineMs ?? null,
        },
        state: session.ended.aborted ? 'failed' : 'completed',
        deadline_diagnostics: this.#diagnostics,
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
}
