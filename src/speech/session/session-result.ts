import {fourDecimals} from '../text/confidence.js'
import type {Correction} from '../text/correction.js'
import type {FinishedText} from '../text/finish.js'
import type {LanguageDiagnostics} from '../text/language-hint.js'
import type {DeadlineDiagnostic} from './session.js'
import type {FinishedUtterance} from './session-event.js'

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
  get transcript(): Pick<FinishedText, 'rawText' | 'refinedText' | 'confidence' | 'trace'> {
    return {
      rawText: this.#raw.join(' '),
      refinedText: this.#refined.join(' '),
      confidence: this.#raw.length === 0 ? 0 : fourDecimals(this.#confidence),
      trace: this.#trace,
    }
  }

  /** What else is known of the session. Times are in ms; `nBest` and `language` are undefined if they are unknown. */
  get details(): {
    utterances: number
    nBest: readonly string[] | undefined
    language: LanguageDiagnostics | undefined
    totalMs: number
    transcribeMs: number
    /** Those of the last utterance. */
    diagnostics: readonly DeadlineDiagnostic[]
  } {
    return {
      utterances: this.#raw.length,
      nBest: this.#nBest,
      language: this.#language,
      totalMs: performance.now() - this.#startedAt,
      transcribeMs: this.#transcribeMs,
      diagnostics: this.#diagnostics,
    }
  }
}
