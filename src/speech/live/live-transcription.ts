import type {SpeechRegion, VoiceActivityDetector, VoiceActivityState} from '../../audio/index.js'
import type {speechServerSettings, TableValues} from '../../config/index.js'
import {type RecognitionOptions, type SpeechModel, sampleRate} from '../model/model.js'
import type {FinishedText} from '../text/finish.js'
import type {SpeechWarning} from '../transcribe/warning.js'
import {WindowMemo} from '../transcribe/window-memo.js'
import {Blocks} from './blocks.js'
import {createDrafts, type Drafts} from './drafts.js'
import {EventStream} from './event-stream.js'
import {type StabilityRules, StableText} from './stable-text.js'
import {Utterance} from './utterance.js'

/** Why an utterance ended. */
export type Endpoint = 'silence' | 'duration' | 'commit'

/** Where an utterance starts and ends, samples from the start of the live audio, and its language as specified. */
export interface UtteranceSpan {
  start: number
  end: number
  hint: string | undefined
}

/** A state from which live transcription can continue: from the audio at `start` on, it has the same results. */
export interface LiveCheckpoint {
  /** Start of the current utterance, samples. */
  start: number
  /** Position up to which `detector` has processed the audio, samples. */
  at: number
  detector: VoiceActivityState | undefined
}

/** An utterance that has ended. */
export interface EndedUtterance<F> {
  /** Position of its audio, ms from the start of the live audio. */
  startMs: number
  endMs: number
  /** Transcribes it. Not called, it costs nothing. */
  transcribe(signal: AbortSignal): Promise<F>
}

/** What happens in live audio, in order. */
export type LiveSignal<F> =
  | PartialSignal
  /** The detector found speech in the current utterance; `startMs` is its start in the audio. */
  | {type: 'speech'; startMs: number}
  /** A later state to continue from. */
  | {type: 'checkpoint'; checkpoint: LiveCheckpoint}
  | {type: 'ended'; endpoint: Endpoint; utterance: EndedUtterance<F>; span: UtteranceSpan; checkpoint: LiveCheckpoint}
  | {type: 'warning'; warning: SpeechWarning}
  /** A partial result failed; later ones are tried again. */
  | {type: 'draft_failed'; error: unknown}
  /** The detector failed or there is too much audio (`AudioOverflow`); the transcription cannot continue. */
  | {type: 'failed'; error: unknown}

/** A partial result. */
export interface PartialSignal extends Pick<FinishedText, 'confidence' | 'nBest'> {
  type: 'partial'
  /** Number of the partial result within its utterance, from 1. */
  seq: number
  text: string
  /** Prefix of `text` that no later partial result of the utterance changes. */
  stableText: string
}

/** Settings of live transcription. */
export type LiveSettings = StabilityRules & Pick<TableValues<typeof speechServerSettings>, 'streamMaxBufferMs'>

export interface LiveOptions<F> extends LiveSettings {
  model: SpeechModel
  /** Detects speech in live audio; without one, all audio counts as speech and endpoints are not detected. */
  detector: VoiceActivityDetector | undefined
  recognition: RecognitionOptions
  /** Language as the caller specified it; `recognition` has its code. */
  hint: string | undefined
  /** Returns the code of a language. @throws language_unsupported */
  languageCode(hint: string | undefined): string | undefined
  /**
   * Time of silence after which an utterance ends, and its maximum duration; if both are undefined, `commit` ends it.
   */
  endpoint: {silenceMs: number | undefined; maxDurationMs: number | undefined}
  finish(raw: string, language: string | undefined): FinishedText
  /** Transcribes the complete audio of an utterance. */
  transcribe(
    samples: Float32Array,
    hint: string | undefined,
    memo: WindowMemo,
    context: {signal: AbortSignal; onWarning(warning: SpeechWarning): void},
  ): Promise<F>
  /** State to continue from; the audio from its `start` on has to be pushed again. */
  from?: LiveCheckpoint | undefined
  /** Clock of the partial results, ms. */
  now?: (() => number) | undefined
}

/** The error if more audio arrives than can be buffered. */
export class AudioOverflow extends Error {}

interface Current {
  audio: Utterance
  memo: WindowMemo
  text: StableText
  drafts: Drafts | undefined
  shown: string
  seq: number
  /** Ends drafts and passes in advance. */
  ended: AbortController
  /** End of the speech before which the final pass was computed in advance, and what ends it. */
  advance: {speechEnd: number; stop: AbortController} | undefined
}

/** Audio of a silence that is kept before the next utterance, samples. */
const keptSilence = sampleRate
/** Silence after which a checkpoint is reported again, samples. */
const checkpointEvery = 5 * sampleRate

/**
 * Transcribes live audio. Partial results appear while audio arrives; the final result is that of the offline
 * transcription of the same audio, computed in advance in pauses. `push` never waits for the model.
 */
export class LiveTranscription<F> implements AsyncIterable<LiveSignal<F>> {
  readonly #options: LiveOptions<F>
  readonly #signals = new EventStream<LiveSignal<F>>()
  readonly #now: () => number
  /** Position up to which the detector had processed the audio at the start. */
  readonly #detectedTo: number
  readonly #blocks: Blocks
  #current: Current
  #checkpointAt: number
  /** Audio is processed in order. */
  #queue: Promise<void> = Promise.resolve()
  #drafting: Promise<void> | undefined
  /** Speech of the current utterance: its start, and the end of its last region that has ended. */
  #spokenFrom: number | undefined
  #spokenTo: number | undefined
  #closed = false
  #recognition: RecognitionOptions
  #hint: string | undefined
  #encodedSec = 0

  constructor(options: LiveOptions<F>) {
    this.#options = options
    this.#now = options.now ?? (() => performance.now())
    this.#recognition = options.recognition
    this.#hint = options.hint
    const {start, at} = options.from ?? {start: 0, at: 0}
    this.#detectedTo = at
    this.#checkpointAt = at
    this.#blocks = new Blocks(start)
    this.#current = this.#begin(start)
  }

  /** Audio that was encoded for partial results, seconds. */
  get draftedSec(): number {
    return this.#encodedSec + (this.#current.drafts?.encodedSec ?? 0)
  }

  [Symbol.asyncIterator](): AsyncIterator<LiveSignal<F>, void, undefined> {
    return this.#signals[Symbol.asyncIterator]()
  }

  /** Adds samples, mono at 16 kHz. */
  push(samples: Float32Array): void {
    this.#enqueue(async () => {
      for (const block of this.#blocks.add(samples)) await this.#take(block)
    }).catch((error: unknown) => this.#signals.push({type: 'failed', error}))
  }

  /** Ends the utterance after the audio so far, and starts the next one. */
  async commit(): Promise<void> {
    await this.#enqueue(async () => {
      for (const rest of this.#blocks.takeRest()) await this.#take(rest)
      this.#finish('commit')
    })
  }

  /** Drops the audio of the current utterance, and starts the next one. */
  async clear(): Promise<void> {
    await this.#enqueue(async () => {
      for (const rest of this.#blocks.takeRest()) await this.#take(rest)
      const {end} = this.#current.audio
      this.#end(this.#current)
      this.#current = this.#begin(end)
      this.#signals.push({type: 'checkpoint', checkpoint: this.#checkpoint()})
    })
  }

  /**
   * Changes the language of the current utterance and of those after it, once the audio so far is processed.
   * @throws language_unsupported, and keeps the previous language
   */
  setLanguage(hint: string | undefined): void {
    const language = this.#options.languageCode(hint)
    void this.#enqueue(async () => {
      this.#hint = hint
      this.#recognition = {...this.#recognition, language}
      this.#current.memo = new WindowMemo()
      this.#current.advance?.stop.abort()
      this.#current.advance = undefined
      this.#encodedSec += this.#current.drafts?.encodedSec ?? 0
      this.#current.drafts?.close()
      this.#current.drafts = undefined
    })
  }

  /** Waits until the audio so far is processed, apart from partial results, and the reader has what happened in it. */
  async settle(): Promise<void> {
    await this.#queue
    await this.#signals.handled()
  }

  /** Waits until the running draft is reported. */
  async drafted(): Promise<void> {
    await this.#drafting
  }

  /** Stops without a result. */
  async close(): Promise<void> {
    this.#closed = true
    this.#end(this.#current)
    await this.#queue
    await this.#drafting
    this.#signals.end()
  }

  /** Runs a step after those before it, unless the transcription is closed. */
  #enqueue(step: () => Promise<void>): Promise<void> {
    const done = this.#queue.then(async () => {
      if (!this.#closed) await step()
    })
    this.#queue = done.catch(() => undefined)
    return done
  }

  #begin(at: number): Current {
    this.#spokenFrom = this.#options.detector === undefined ? at : undefined
    this.#spokenTo = undefined
    return {
      audio: new Utterance(at),
      memo: new WindowMemo(),
      text: new StableText(this.#options),
      drafts: undefined,
      shown: '',
      seq: 0,
      ended: new AbortController(),
      advance: undefined,
    }
  }

  async #take(samples: Float32Array): Promise<void> {
    const {detector, streamMaxBufferMs} = this.#options
    this.#current.audio.add(samples)
    if (this.#current.audio.durationMs > streamMaxBufferMs) throw new AudioOverflow()
    if (this.#current.audio.end <= this.#detectedTo) return
    if (detector !== undefined) this.#notice(await detector.push(samples), detector.open)
    this.#endpoint()
    this.#draft()
    this.#advance()
  }

  #notice(ended: readonly SpeechRegion[], open: SpeechRegion | undefined): void {
    const {audio} = this.#current
    const first = (open === undefined ? ended : [...ended, open]).find(({end}) => end > audio.start)
    if (this.#spokenFrom === undefined && first !== undefined) {
      this.#spokenFrom = Math.max(audio.start, first.start)
      this.#signals.push({type: 'speech', startMs: (1000 * this.#spokenFrom) / sampleRate})
    }
    this.#spokenTo = ended.findLast(({end}) => end > audio.start)?.end ?? this.#spokenTo
  }

  get #speaking(): boolean {
    return (
      this.#spokenFrom !== undefined && (this.#spokenTo === undefined || this.#options.detector?.open !== undefined)
    )
  }

  /** Ends an utterance after a silence or at its maximum duration; between utterances, drops the silence. */
  #endpoint(): void {
    const {silenceMs, maxDurationMs = Infinity} = this.#options.endpoint
    const {audio} = this.#current
    if (silenceMs !== undefined && this.#spokenFrom === undefined) {
      audio.dropBefore(audio.end - keptSilence)
      if (audio.end - this.#checkpointAt >= checkpointEvery)
        this.#signals.push({type: 'checkpoint', checkpoint: this.#checkpoint()})
      return
    }
    const quietMs = (1000 * (audio.end - (this.#spokenTo ?? audio.end))) / sampleRate
    if (!this.#speaking && quietMs >= (silenceMs ?? Infinity)) this.#finish('silence')
    else if (audio.durationMs >= maxDurationMs) this.#finish('duration')
  }

  #finish(endpoint: Endpoint): void {
    const {audio, memo} = this.#current
    const hint = this.#hint
    this.#end(this.#current)
    this.#current = this.#begin(audio.end)
    const {start, end} = audio
    const span = {start, end, hint}
    const utterance = this.#ended(span, () => audio.from(start), memo)
    this.#signals.push({type: 'ended', endpoint, utterance, span, checkpoint: this.#checkpoint()})
  }

  /** An utterance that ended before the state from which this transcription continues. @param samples its audio */
  endedBefore(span: UtteranceSpan, samples: Float32Array): EndedUtterance<F> {
    return this.#ended(span, () => samples, new WindowMemo())
  }

  #ended({start, end, hint}: UtteranceSpan, audio: () => Float32Array, memo: WindowMemo): EndedUtterance<F> {
    return {
      startMs: (1000 * start) / sampleRate,
      endMs: (1000 * end) / sampleRate,
      transcribe: (signal) => this.#options.transcribe(audio(), hint, memo, this.#context(signal)),
    }
  }

  #context(signal: AbortSignal) {
    return {signal, onWarning: (warning: SpeechWarning) => this.#signals.push({type: 'warning', warning})}
  }

  #checkpoint(): LiveCheckpoint {
    const {start, end: at} = this.#current.audio
    this.#checkpointAt = at
    return {start, at, detector: this.#options.detector?.snapshot()}
  }

  #end(current: Current): void {
    current.ended.abort()
    this.#encodedSec += current.drafts?.encodedSec ?? 0
    current.drafts?.close()
    current.drafts = undefined
  }

  /** Starts a draft if one is due and none is running. */
  #draft(): void {
    const current = this.#current
    if (this.#drafting !== undefined || this.#closed || this.#spokenFrom === undefined) return
    current.drafts ??= createDrafts(this.#options.model, this.#recognition, this.#spokenFrom)
    if (!current.drafts.isDue(current.audio, this.#now())) return
    this.#drafting = this.#drafted(current, current.drafts).finally(() => {
      this.#drafting = undefined
      this.#draft()
    })
  }

  async #drafted(current: Current, drafts: Drafts): Promise<void> {
    const {signal} = current.ended
    const {language} = this.#recognition
    try {
      const draft = await drafts.next(current.audio, this.#now(), signal)
      if (signal.aborted || draft === undefined) return
      const {refinedText, confidence, nBest} = this.#options.finish(draft.text, language)
      const certain =
        draft.certain === draft.text ? refinedText : this.#options.finish(draft.certain, language).refinedText
      const {text, stable} = current.text.add({text: refinedText, certain}, this.#now())
      drafts.stable(stable === '' ? 0 : stable.split(' ').length)
      const shown = JSON.stringify([text, stable])
      if (text === '' || shown === current.shown) return
      current.shown = shown
      this.#signals.push({type: 'partial', seq: ++current.seq, text, stableText: stable, confidence, nBest})
    } catch (error) {
      // The final result does not depend on drafts, and reports a failed model itself.
      if (!signal.aborted) this.#signals.push({type: 'draft_failed', error})
    }
  }

  /** Computes the final pass in advance when silence begins; speech makes it useless. */
  #advance(): void {
    const current = this.#current
    if (this.#spokenTo === undefined) return
    if (this.#speaking) {
      current.advance?.stop.abort()
      return
    }
    if (current.advance?.speechEnd === this.#spokenTo) return
    const stop = new AbortController()
    current.advance = {speechEnd: this.#spokenTo, stop}
    const {audio, memo} = current
    this.#options
      .transcribe(audio.from(audio.start), this.#hint, memo, this.#context(stop.signal))
      .catch(() => undefined)
  }
}
