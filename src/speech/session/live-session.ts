import {randomUUID} from 'node:crypto'
import {asAudioError, SvcError} from '../../errors/index.js'
import {EventStream} from '../live/event-stream.js'
import {
  AudioOverflow,
  type EndedUtterance,
  type LiveCheckpoint,
  type LiveSettings,
  type LiveTranscription,
  type PartialSignal,
  type UtteranceSpan,
} from '../live/live-transcription.js'
import type {Segment} from '../model/model.js'
import {fourDecimals} from '../text/confidence.js'
import type {TranscribedFile} from '../transcriber/options.js'
import type {PartialWriter} from '../transcriber/partial-file.js'
import type {Transcriber} from '../transcriber/transcriber.js'
import {type DeadlineDiagnostic, newSessionId, type SessionLimits, SpeechSession} from './session.js'
import type {FinishedUtterance, LiveEvent, SessionEvent} from './session-event.js'

/** What a caller specifies about a session. */
export interface LiveSessionRequest {
  id?: string | undefined
  correlationId?: string | undefined
  /** Continues an earlier session. */
  resume?: LiveResumption | undefined
  /** Silence that ends an utterance, ms; undefined: only `commit` ends it, and the maximum duration. */
  silenceMs: number | undefined
  /** Ends the session after the first utterance. */
  once?: boolean
  language?: string | undefined
  /** Keeps the session if no audio arrives for the timeout; otherwise, it fails. */
  keepsIdle?: boolean
  signal: AbortSignal
}

export interface LiveSessionOptions extends LiveSessionRequest, LiveSettings {
  transcriber: Transcriber
  /** Audio can be pushed; otherwise no model is loaded, and only texts can be added. */
  isLive?: boolean
  /** Limits of each utterance. */
  limits: SessionLimits
  heartbeatMs: number
  /** File that receives the text of each utterance. */
  partial?: PartialWriter | undefined
  /** Performs the computation of a final result, for instance to count it. */
  perform?: (<T>(work: () => Promise<T>) => Promise<T>) | undefined
}

/** What a session continues from; the audio from the start of the checkpoint on has to be pushed again. */
export interface LiveResumption {
  checkpoint: LiveCheckpoint
  /** Utterances that had ended. */
  utterances: number
  /** Those of them without a final result, with their audio. */
  pending: readonly {index: number; span: UtteranceSpan; samples: Float32Array}[]
}

type FinalEvent = FinishedUtterance['event']

/**
 * A live session: audio in, events out. Each utterance has its own time limits; the session itself has none. Events are
 * in order: `ready` comes first, and no `partial` follows the `final` of its utterance. Its owner reads them until they
 * end after `close`.
 */
export class LiveSession implements AsyncIterable<SessionEvent> {
  readonly id: string
  readonly correlationId: string
  /** The state of the current utterance. */
  #session: SpeechSession
  readonly #options: LiveSessionOptions
  readonly #events = new EventStream<SessionEvent>()
  #live: LiveTranscription<TranscribedFile> | undefined
  #following: Promise<void> | undefined
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

  private constructor(options: LiveSessionOptions) {
    this.#options = options
    this.#language = options.language
    this.id = options.id ?? newSessionId()
    this.correlationId = options.correlationId ?? randomUUID()
    this.#utterances = options.resume?.utterances ?? 0
    this.#session = this.#newUtterance()
  }

  /** The maximum duration limits the audio of an utterance, not the time since the previous one. */
  #newUtterance(): SpeechSession {
    return new SpeechSession({...this.#options.limits, maxDurationMs: undefined}, {id: this.id})
  }

  /**
   * Loads the model and starts a session.
   * @throws what `Transcriber.live` throws
   */
  static async start(options: LiveSessionOptions): Promise<LiveSession> {
    const session = new LiveSession(options)
    if (options.isLive !== false) session.#live = await session.#startLive()
    for (const {index, span, samples} of options.resume?.pending ?? []) {
      const ended = session.#live?.endedBefore(span, samples)
      if (ended !== undefined) session.#finalize(ended, index, session.#newUtterance())
    }
    session.#emit({type: 'ready', event: session.ready})
    session.#waitForAudio()
    if (session.#live !== undefined) session.#following = session.#follow(session.#live)
    return session
  }

  #startLive(): Promise<LiveTranscription<TranscribedFile>> {
    const {transcriber, silenceMs, limits, resume, ...options} = this.#options
    const endpoint = {silenceMs, maxDurationMs: limits.maxDurationMs}
    return transcriber.live({...options, endpoint, from: resume?.checkpoint})
  }

  async #follow(live: LiveTranscription<TranscribedFile>): Promise<void> {
    for await (const signal of live)
      switch (signal.type) {
        case 'partial':
          this.#emitPartial(signal)
          break
        case 'ended':
          this.#emit({type: 'checkpoint', checkpoint: signal.checkpoint, ended: signal.span})
          this.#finish(signal.utterance)
          break
        case 'checkpoint':
          this.#emit({...signal, ended: undefined})
          break
        case 'failed':
          this.fail(signal.error)
          break
        default:
          this.#emit(signal)
      }
  }

  #emitPartial({seq, text, stableText, confidence, nBest}: PartialSignal): void {
    const event = {
      type: 'partial' as const,
      correlation_id: this.correlationId,
      seq,
      text,
      stable_text: stableText,
      confidence: fourDecimals(confidence),
      n_best: nBest === undefined ? null : [...nBest],
    }
    this.#emit({type: 'partial', event})
  }

  [Symbol.asyncIterator](): AsyncIterator<SessionEvent, void, undefined> {
    return this.#events[Symbol.asyncIterator]()
  }

  /** The first event. */
  get ready(): Extract<LiveEvent, {type: 'ready'}> {
    return {
      type: 'ready',
      correlation_id: this.correlationId,
      session_id: this.id,
      sample_rate_hz: 16_000,
      input_format: 'pcm_s16le_mono',
    }
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

  /** Adds the text of a transcript file as an utterance; resolves when the owner has its result. */
  async addText(path: string): Promise<void> {
    const {transcriber} = this.#options
    const language = this.#language
    this.#session.capture()
    this.#finish({startMs: 0, endMs: 0, transcribe: (signal) => transcriber.transcribe({path}, {signal, language})})
    await this.#finals
    await this.#events.handled()
  }

  /** Ends the utterance; resolves when the owner has its final result. */
  async commit(): Promise<void> {
    await this.#waitFor(async () => this.#live?.commit())
  }

  /** Drops the audio of the current utterance. */
  async clear(): Promise<void> {
    await this.#live?.clear()
  }

  /** Waits until the audio so far is processed, no final result is pending, and the owner has all events. */
  async settle(): Promise<void> {
    await this.#waitFor(async () => undefined)
  }

  /** Performs a step and waits for pending final results; meanwhile, no audio is expected. */
  async #waitFor(step: () => Promise<void>): Promise<void> {
    this.#settling++
    try {
      await step()
      await this.#live?.settle()
      await this.#finals
      await this.#events.handled()
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
    await this.#following
    await this.#finals
    this.#events.end()
  }

  #finish(ended: EndedUtterance<TranscribedFile>): void {
    if (this.isDone) return
    const index = this.#utterances++
    const session = this.#session
    this.#session = this.#newUtterance()
    this.#finalize(ended, index, session)
  }

  #finalize(ended: EndedUtterance<TranscribedFile>, index: number, session: SpeechSession): void {
    const {perform = (work) => work(), partial, signal} = this.#options
    this.#finals = this.#finals.then(async () => {
      try {
        const {value: file, ...times} = await perform(() =>
          session.finalize((within, loaded) => {
            loaded()
            return ended.transcribe(within)
          }, signal),
        )
        const event = this.#finalEvent(ended, index, file, times)
        this.#emit({type: 'final', event, file})
        const {segments} = file.transcript
        const {start_ms: start, end_ms: end, raw_text: text} = event
        await partial?.write({type: 'chunk', index, startSec: start / 1000, endSec: end / 1000, text, segments})
      } catch (error) {
        if (!signal.aborted) this.#report(error, {utterance: index, end_ms: Math.round(ended.endMs)})
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

  #emit(event: SessionEvent): void {
    if ('event' in event) this.#beatLater()
    this.#events.push(event)
  }

  /** Sends a heartbeat, unless another event comes first. */
  #beatLater(): void {
    clearTimeout(this.#heartbeat)
    this.#heartbeat = setTimeout(() => {
      const elapsed = Math.round(performance.now() - this.#startedAt)
      const event = {type: 'heartbeat' as const, correlation_id: this.correlationId, elapsed_ms: elapsed}
      this.#emit({type: 'heartbeat', event})
    }, this.#options.heartbeatMs).unref()
  }

  #waitForAudio(): void {
    const {limits, keepsIdle} = this.#options
    const {captureTimeoutMs} = limits
    if (captureTimeoutMs === undefined) return
    this.#idle = setInterval(
      () => {
        const waited = performance.now() - this.#lastAudioAt
        if (this.#settling > 0 || waited < captureTimeoutMs) return
        const error = this.#session.captureTimeout(waited)
        if (keepsIdle) this.#emit({type: 'idle', error})
        else this.fail(error)
      },
      Math.max(10, captureTimeoutMs / 10),
    ).unref()
  }

  /** Reports an error of one utterance; the session continues. */
  #report(error: unknown, utterance: {utterance: number; end_ms: number}): void {
    this.#failures++
    this.#emitError(SvcError.from(error), utterance)
  }

  /** Reports an error that ends the session. */
  fail(error: unknown): void {
    if (this.#ended.signal.aborted) return
    const known =
      error instanceof AudioOverflow
        ? new SvcError('buffer_overflow', {max_buffer_ms: this.#options.streamMaxBufferMs})
        : SvcError.from(error)
    this.#ended.abort(known)
    clearInterval(this.#idle)
    this.#emitError(known, {})
    clearTimeout(this.#heartbeat)
  }

  #emitError(error: SvcError, utterance: {utterance?: number; end_ms?: number}): void {
    const event = {type: 'error' as const, correlation_id: this.correlationId, ...asAudioError(error), ...utterance}
    this.#emit({type: 'error', event, error})
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
