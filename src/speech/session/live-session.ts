import {randomUUID} from 'node:crypto'
import type {SpeechEventV1, SpeechFinalV1} from '../../contracts/index.js'
import {asAudioError, SvcError} from '../../errors/index.js'
import {
  AudioOverflow,
  type EndedUtterance,
  type LiveCheckpoint,
  type LiveTranscription,
  type UtteranceSpan,
} from '../live/live-transcription.js'
import type {StabilityRules} from '../live/stable-text.js'
import type {Segment} from '../model/model.js'
import {fourDecimals} from '../text/confidence.js'
import type {TranscribedFile, TranscribeHandlers} from '../transcriber/options.js'
import type {Transcriber} from '../transcriber/transcriber.js'
import {type DeadlineDiagnostic, newSessionId, type SessionLimits, type SessionState, SpeechSession} from './session.js'

export interface LiveSessionOptions {
  transcriber: Transcriber
  id?: string | undefined
  correlationId?: string | undefined
  /** Continues an earlier session. */
  resume?: LiveResumption | undefined
  /** Receives each state from which the session could continue, and the utterance that ended with it. */
  onCheckpoint?: ((checkpoint: LiveCheckpoint, ended: UtteranceSpan | undefined) => void) | undefined
  /** Called when the detector finds speech in an utterance. @param startMs start of the speech in the audio */
  onSpeech?: ((startMs: number) => void) | undefined
  /** Called with the final result of an utterance before it is emitted, or with undefined if the utterance failed. */
  beforeFinal?: ((event: FinalEvent | undefined, index: number) => Promise<void>) | undefined
  /** Called if no audio arrives for the timeout; without it, the session fails. */
  onIdle?: ((error: SvcError<'speech_capture_timeout'>) => void) | undefined
  /** Audio can be pushed; otherwise no model is loaded, and only texts can be added. */
  isLive?: boolean
  /** Limits of each utterance. */
  limits: SessionLimits
  /** Silence that ends an utterance, ms; undefined: only `commit` ends it, and the maximum duration. */
  silenceMs: number | undefined
  /** Ends the session after the first utterance. */
  once?: boolean
  heartbeatMs: number
  language?: string | undefined
  stability: StabilityRules
  /** Maximum audio to keep, ms. */
  maxBufferMs: number
  emit(event: LiveEvent): void
  onState?: ((state: SessionState) => void) | undefined
  /** Receives the text of each utterance, for instance to append it to a file. */
  onChunk?: TranscribeHandlers['onChunk']
  /** Called if a partial result fails. */
  onDraftFailure?: ((error: unknown) => void) | undefined
  /** Called with each constraint that is not applied. */
  onWarning?: TranscribeHandlers['onWarning']
  /** Called with each error that is also emitted as an event. */
  onFailure?: ((error: SvcError) => void) | undefined
  /** Performs the computation of a final result, for instance to count it. */
  perform?: (<T>(work: () => Promise<T>) => Promise<T>) | undefined
  signal: AbortSignal
}

/** What a session continues from; the audio from the start of the checkpoint on has to be pushed again. */
export interface LiveResumption {
  checkpoint: LiveCheckpoint
  /** Utterances that had ended. */
  utterances: number
  /** Those of them without a final result, with their audio. */
  pending: readonly {index: number; span: UtteranceSpan; samples: Float32Array}[]
}

/** What a live session reports, in the form in which clients receive it. */
export type LiveEvent = SpeechEventV1
type FinalEvent = SpeechFinalV1

/** A final result with all that is known about it. */
export interface FinishedUtterance {
  event: FinalEvent
  /** Undefined if another machine has recognised it. */
  file?: TranscribedFile
}

/**
 * A live session: audio in, events out. Each utterance has its own time limits; the session itself has none. Events are
 * in order: `ready` comes first, and no `partial` follows the `final` of its utterance.
 */
export class LiveSession {
  readonly id: string
  readonly correlationId: string
  /** The state of the current utterance. */
  #session: SpeechSession
  readonly #options: LiveSessionOptions
  readonly #onFinal: ((finished: FinishedUtterance) => void | Promise<void>) | undefined
  #live: LiveTranscription<TranscribedFile> | undefined
  /** Final results are reported in order. */
  #finals: Promise<void> = Promise.resolve()
  #failures = 0
  #utterances: number
  #language: string | undefined
  /** Number of callers that wait for results and send no audio meanwhile. */
  #settling = 0
  #idle: NodeJS.Timeout | undefined
  #heartbeat: NodeJS.Timeout | undefined
  readonly #startedAt = performance.now()
  #lastAudioAt = performance.now()
  readonly #ended = new AbortController()

  private constructor(options: LiveSessionOptions, onFinal?: (finished: FinishedUtterance) => void | Promise<void>) {
    this.#options = options
    this.#onFinal = onFinal
    this.#language = options.language
    this.id = options.id ?? newSessionId()
    this.correlationId = options.correlationId ?? randomUUID()
    this.#utterances = options.resume?.utterances ?? 0
    this.#session = this.#newUtterance()
  }

  /** The maximum duration limits the audio of an utterance, not the time since the previous one. */
  #newUtterance(): SpeechSession {
    const {limits, onState} = this.#options
    return new SpeechSession({...limits, maxDurationMs: undefined}, {id: this.id, onState})
  }

  /**
   * Loads the model and starts a session.
   * @throws what `Transcriber.live` throws
   */
  static async start(
    options: LiveSessionOptions,
    onFinal?: (finished: FinishedUtterance) => void | Promise<void>,
  ): Promise<LiveSession> {
    const session = new LiveSession(options, onFinal)
    if (options.isLive !== false) session.#live = await session.#startLive()
    for (const {index, span, samples} of options.resume?.pending ?? []) {
      const ended = session.#live?.endedBefore(span, samples)
      if (ended !== undefined) session.#finalize(ended, index, session.#newUtterance())
    }
    session.#emit({
      type: 'ready',
      correlation_id: session.correlationId,
      session_id: session.id,
      sample_rate_hz: 16_000,
      input_format: 'pcm_s16le_mono',
    })
    session.#waitForAudio()
    return session
  }

  #startLive(): Promise<LiveTranscription<TranscribedFile>> {
    const {transcriber, language, stability, maxBufferMs, silenceMs, limits, signal} = this.#options
    return transcriber.live({
      language,
      signal,
      stability,
      maxBufferMs,
      endpoint: {silenceMs, maxDurationMs: limits.maxDurationMs},
      from: this.#options.resume?.checkpoint,
      onCheckpoint: this.#options.onCheckpoint,
      onSpeech: this.#options.onSpeech,
      onPartial: ({seq, text, stableText, confidence, nBest = null}) =>
        this.#emit({
          type: 'partial',
          correlation_id: this.correlationId,
          seq,
          text,
          stable_text: stableText,
          confidence: fourDecimals(confidence),
          n_best: nBest === null ? null : [...nBest],
        }),
      onDraftFailure: this.#options.onDraftFailure,
      onWarning: this.#options.onWarning,
      onEndpoint: (ended) => this.#finish(ended),
      onFailure: (error) => this.fail(error),
    })
  }

  /** True if the only utterance of the session has ended. */
  get isDone(): boolean {
    return this.#options.once === true && this.#utterances > 0
  }

  /** Number of utterances without a final result because of an error. */
  get failures(): number {
    return this.#failures
  }

  /** Aborts when the session has failed, with its error as the reason. */
  get ended(): AbortSignal {
    return this.#ended.signal
  }

  /** Adds samples, mono at 16 kHz; never waits for the model. */
  push(samples: Float32Array): void {
    if (this.#ended.signal.aborted || this.isDone) return
    this.#session.capture()
    this.#lastAudioAt = performance.now()
    this.#live?.push(samples)
  }

  /**
   * Changes the language of the current utterance and of those after it; undefined restores the default.
   * @throws language_unsupported, and keeps the previous language
   */
  setLanguage(hint: string | undefined): void {
    this.#live?.setLanguage(hint)
    this.#language = hint
  }

  /** Adds the text of a transcript file as an utterance; resolves when its result was reported. */
  async addText(path: string): Promise<void> {
    const {transcriber} = this.#options
    const language = this.#language
    this.#session.capture()
    this.#finish({startMs: 0, endMs: 0, transcribe: (signal) => transcriber.transcribe({path}, {signal, language})})
    await this.#finals
  }

  /** Ends the utterance; resolves when its final result was reported. */
  async commit(): Promise<void> {
    await this.#waitFor(async () => {
      const ended = await this.#live?.commit()
      if (ended !== undefined) this.#finish(ended)
    })
  }

  /** Drops the audio of the current utterance. */
  async clear(): Promise<void> {
    await this.#live?.clear()
  }

  /** Waits until the audio so far is processed and no final result is pending. */
  async settle(): Promise<void> {
    await this.#waitFor(async () => this.#live?.settle())
  }

  /** Performs a step and waits for pending final results; meanwhile, no audio is expected. */
  async #waitFor(step: () => Promise<void>): Promise<void> {
    this.#settling++
    try {
      await step()
      await this.#finals
    } finally {
      this.#settling--
      this.#lastAudioAt = performance.now()
    }
  }

  /** While paused, no audio is expected. */
  pause(): void {
    this.#settling++
  }

  continue(): void {
    this.#settling--
    this.#lastAudioAt = performance.now()
  }

  /** Stops without a result for the current utterance. */
  async close(): Promise<void> {
    clearInterval(this.#idle)
    clearTimeout(this.#heartbeat)
    await this.#live?.close()
    await this.#finals
  }

  #finish(ended: EndedUtterance<TranscribedFile>): void {
    if (this.isDone) return
    const index = this.#utterances++
    const session = this.#session
    this.#session = this.#newUtterance()
    this.#finalize(ended, index, session)
  }

  #finalize(ended: EndedUtterance<TranscribedFile>, index: number, session: SpeechSession): void {
    const {perform = (work) => work(), beforeFinal} = this.#options
    this.#finals = this.#finals.then(async () => {
      try {
        const {value: file, ...times} = await perform(() =>
          session.finalize((signal, loaded) => {
            loaded()
            return ended.transcribe(signal)
          }, this.#options.signal),
        )
        const event = this.#finalEvent(ended, index, file, times)
        await beforeFinal?.(event, index)
        this.#emit(event)
        const {segments} = file.transcript
        const {start_ms: start, end_ms: end, raw_text: text} = event
        await this.#options.onChunk?.({
          type: 'chunk',
          index,
          startSec: start / 1000,
          endSec: end / 1000,
          text,
          segments,
        })
        await this.#onFinal?.({event, file})
      } catch (error) {
        if (this.#options.signal.aborted) return
        await beforeFinal?.(undefined, index)
        this.#report(error, {utterance: index, end_ms: Math.round(ended.endMs)})
      }
    })
  }

  #finalEvent(
    {startMs, endMs}: EndedUtterance<TranscribedFile>,
    utterance: number,
    {finished, asrConfidence, transcript}: TranscribedFile,
    {totalMs, transcribeMs, diagnostics}: {totalMs: number; transcribeMs: number; diagnostics: DeadlineDiagnostic[]},
  ): FinalEvent {
    const {rawText, refinedText, confidence, nBest = null} = finished
    return {
      type: 'final',
      correlation_id: this.correlationId,
      utterance,
      start_ms: Math.round(startMs),
      end_ms: Math.round(endMs),
      raw_text: rawText,
      refined_text: refinedText,
      text: transcript.text.trim(),
      confidence: fourDecimals(confidence),
      n_best: nBest === null ? null : [...nBest],
      ...(asrConfidence === undefined ? {} : {asr_confidence: asrConfidence}),
      ...tokensOf(transcript.segments),
      deadline_diagnostics: diagnostics,
      timings: {total_ms: Math.round(totalMs), transcribe_ms: Math.round(transcribeMs)},
    }
  }

  #emit(event: LiveEvent): void {
    const {heartbeatMs, emit} = this.#options
    clearTimeout(this.#heartbeat)
    this.#heartbeat = setTimeout(() => {
      const elapsed = Math.round(performance.now() - this.#startedAt)
      this.#emit({type: 'heartbeat', correlation_id: this.correlationId, elapsed_ms: elapsed})
    }, heartbeatMs).unref()
    emit(event)
  }

  #waitForAudio(): void {
    const {
      limits: {timeoutMs},
      onIdle,
    } = this.#options
    if (timeoutMs === undefined) return
    this.#idle = setInterval(
      () => {
        const waited = performance.now() - this.#lastAudioAt
        if (this.#settling > 0 || waited < timeoutMs) return
        if (onIdle === undefined) this.fail(this.#session.captureTimeout(waited))
        else onIdle(this.#session.captureTimeout(waited))
      },
      Math.max(10, timeoutMs / 10),
    ).unref()
  }

  /** Reports an error of one utterance; the session continues. */
  #report(error: unknown, utterance: {utterance: number; end_ms: number}): void {
    const known = SvcError.from(error)
    this.#failures++
    this.#options.onFailure?.(known)
    this.#emit({type: 'error', correlation_id: this.correlationId, ...asAudioError(known), ...utterance})
  }

  /** Reports an error that ends the session. */
  fail(error: unknown): void {
    if (this.#ended.signal.aborted) return
    const overflow = error instanceof AudioOverflow
    const {maxBufferMs} = this.#options
    const known = overflow ? new SvcError('buffer_overflow', {max_buffer_ms: maxBufferMs}) : SvcError.from(error)
    this.#ended.abort(known)
    this.#options.onFailure?.(known)
    clearInterval(this.#idle)
    this.#emit({
      type: 'error',
      correlation_id: this.correlationId,
      ...asAudioError(known),
    })
    clearTimeout(this.#heartbeat)
  }
}

/** The tokens of an utterance, if they were requested. */
function tokensOf(segments: readonly Segment[]): Pick<FinalEvent, 'tokens'> {
  if (segments.every(({pieces}) => pieces === undefined)) return {}
  return {
    tokens: segments.flatMap(({pieces = []}) =>
      pieces.map((piece) => ({...piece, logprob: fourDecimals(piece.logprob)})),
    ),
  }
}
