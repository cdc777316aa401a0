import type {SpeechRegion, VoiceActivityDetector, VoiceActivityState} from '../../audio/index.js'
import {type RecognitionOptions, type SpeechModel, sampleRate} from '../model/model.js'
import type {FinishedText} from '../text/finish.js'
import {advanced} from '../transcribe/advanced.js'
import {WindowMemo} from '../transcribe/window-memo.js'
import {createDrafts, type Drafts} from './drafts.js'
import {type StabilityRules, StableText} from './stable-text.js'
import {Utterance} from './utterance.js'

/** A partial result. */
export interface Partial extends Pick<FinishedText, 'confidence' | 'nBest'> {
  /** Number of the partial result within its utterance, from 1. */
  seq: number
  text: string
  /** Prefix of `text` that no later partial result of the utterance changes. */
  stableText: string
}

/** Why an utterance ended without a commit of the caller. */
export type Endpoint = 'silence' | 'duration'

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

export interface LiveOptions<F> {
  model: SpeechModel
  /** Detects speech in live audio; without one, all audio counts as speech and endpoints are not detected. */
  detector: VoiceActivityDetector | undefined
  recognition: RecognitionOptions
  /** Language as the caller specified it; `recognition` has its code. */
  hint: string | undefined
  /** Returns the code of a language. @throws language_unsupported */
  languageCode(hint: string | undefined): string | undefined
  stability: StabilityRules
  /**
   * Time of silence after which an utterance ends, and its maximum duration; if both are undefined, `commit` ends it.
   */
  endpoint: {silenceMs: number | undefined; maxDurationMs: number | undefined}
  /** Maximum audio to keep, ms. */
  maxBufferMs: number
  finish(raw: string, language: string | undefined): FinishedText
  /** Transcribes the complete audio of an utterance. */
  transcribe(samples: Float32Array, hint: string | undefined, memo: WindowMemo, signal: AbortSignal): Promise<F>
  onPartial(partial: Partial): void
  /** An utterance ended on its own. */
  onEndpoint?: ((ended: EndedUtterance<F>, endpoint: Endpoint) => void) | undefined
  /** State to continue from; the audio from its `start` on has to be pushed again. */
  from?: LiveCheckpoint | undefined
  /** A later state to continue from, and the utterance that ended with it. */
  onCheckpoint?: ((checkpoint: LiveCheckpoint, ended: UtteranceSpan | undefined) => void) | undefined
  /** The detector found speech in the current utterance. @param startMs its start in the audio */
  onSpeech?: ((startMs: number) => void) | undefined
  /** A partial result failed; later ones are tried again. */
  onDraftFailure?: ((error: unknown) => void) | undefined
  /** The detector failed or there is too much audio (`AudioOverflow`); the transcription cannot continue. */
  onFailure(error: unknown): void
  /** Clock of the partial results, ms. */
  now?: (() => number) | undefined
}

/** Passed to `onFailure` if more audio arrives than can be buffered. */
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
/** Audio is processed up to multiples of this position, so that results do not depend on how it arrives, samples. */
const blockSize = sampleRate / 20
/** Silence after which a checkpoint is reported again, samples. */
const checkpointEvery = 5 * sampleRate

/**
 * Transcribes live audio. Partial results appear while audio arrives; the final result is that of the offline
 * transcription of the same audio, computed in advance in pauses. `push` never waits for the model.
 */
export class LiveTranscription<F> {
  readonly #options: LiveOptions<F>
  readonly #now: () => number
  /** Position up to which the detector had processed the audio at the start. */
  readonly #detectedTo: number
  #current: Current
  /** Samples that do not fill a block yet. */
  #rest: Float32Array[] = []
  #restLength = 0
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
    this.#current = this.#begin(start)
  }

  /** Audio that was encoded for partial results, seconds. */
  get draftedSec(): number {
    return this.#encodedSec + (this.#current.drafts?.encodedSec ?? 0)
  }

  /** Adds samples, mono at 16 kHz. */
  push(samples: Float32Array): void {
    this.#enqueue(async () => {
      for (const block of this.#blocks(samples)) await this.#take(block)
    })
  }

  /** Ends the utterance after the audio so far, and starts the next one. */
  commit(): Promise<EndedUtterance<F>> {
    return new Promise((resolve, reject) => {
      this.#enqueue(async () => {
        await this.#takeRest()
        resolve(this.#finish())
      }, reject)
    })
  }

  /** Drops the audio of the current utterance, and starts the next one. */
  clear(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#enqueue(async () => {
        await this.#takeRest()
        const {end} = this.#current.audio
        this.#end(this.#current)
        this.#current = this.#begin(end)
        this.#checkpoint(undefined)
        resolve()
      }, reject)
    })
  }

  /**
   * Changes the language of the current utterance and of those after it, once the audio so far is processed.
   * @throws language_unsupported, and keeps the previous language
   */
  setLanguage(hint: string | undefined): void {
    const language = this.#options.languageCode(hint)
    this.#enqueue(async () => {
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

  /** Waits until the audio so far is processed, apart from partial results. */
  settle(): Promise<void> {
    return this.#queue
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
  }

  #enqueue(step: () => Promise<void>, onError: (error: unknown) => void = this.#options.onFailure): void {
    this.#queue = this.#queue
      .then(async () => {
        if (!this.#closed) await step()
      })
      .catch(onError)
  }

  #begin(at: number): Current {
    const {stability} = this.#options
    this.#spokenFrom = this.#options.detector === undefined ? at : undefined
    this.#spokenTo = undefined
    return {
      audio: new Utterance(at),
      memo: new WindowMemo(),
      text: new StableText(stability),
      drafts: undefined,
      shown: '',
      seq: 0,
      ended: new AbortController(),
      advance: undefined,
    }
  }

  /** Cuts audio at the ends of blocks; what remains waits for more. */
  *#blocks(samples: Float32Array): Generator<Float32Array, void, undefined> {
    let from = 0
    for (;;) {
      const position = this.#current.audio.end + this.#restLength
      const to = from + blockSize - (position % blockSize)
      if (to > samples.length) break
      const block = joined([...this.#rest, samples.subarray(from, to)], this.#restLength + to - from)
      this.#rest = []
      this.#restLength = 0
      yield block
      from = advanced(from, to)
    }
    if (from === samples.length) return
    this.#rest.push(samples.subarray(from))
    this.#restLength += samples.length - from
  }

  async #takeRest(): Promise<void> {
    const rest = joined(this.#rest, this.#restLength)
    this.#rest = []
    this.#restLength = 0
    if (rest.length > 0) await this.#take(rest)
  }

  async #take(samples: Float32Array): Promise<void> {
    const {detector, maxBufferMs} = this.#options
    this.#current.audio.add(samples)
    if (this.#current.audio.durationMs > maxBufferMs) throw new AudioOverflow()
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
      this.#options.onSpeech?.((1000 * this.#spokenFrom) / sampleRate)
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
      if (audio.end - this.#checkpointAt >= checkpointEvery) this.#checkpoint(undefined)
      return
    }
    const quietMs = (1000 * (audio.end - (this.#spokenTo ?? audio.end))) / sampleRate
    if (!this.#speaking && quietMs >= (silenceMs ?? Infinity)) this.#options.onEndpoint?.(this.#finish(), 'silence')
    else if (audio.durationMs >= maxDurationMs) this.#options.onEndpoint?.(this.#finish(), 'duration')
  }

  #finish(): EndedUtterance<F> {
    const {audio, memo} = this.#current
    const hint = this.#hint
    this.#end(this.#current)
    this.#current = this.#begin(audio.end)
    const {start, end} = audio
    this.#checkpoint({start, end, hint})
    return this.#ended({start, end, hint}, () => audio.from(start), memo)
  }

  /** An utterance that ended before the state from which this transcription continues. @param samples its audio */
  endedBefore(span: UtteranceSpan, samples: Float32Array): EndedUtterance<F> {
    return this.#ended(span, () => samples, new WindowMemo())
  }

  #ended({start, end, hint}: UtteranceSpan, audio: () => Float32Array, memo: WindowMemo): EndedUtterance<F> {
    return {
      startMs: (1000 * start) / sampleRate,
      endMs: (1000 * end) / sampleRate,
      transcribe: (signal) => this.#options.transcribe(audio(), hint, memo, signal),
    }
  }

  #checkpoint(ended: UtteranceSpan | undefined): void {
    const {detector, onCheckpoint} = this.#options
    const {start, end: at} = this.#current.audio
    this.#checkpointAt = at
    if (onCheckpoint !== undefined) onCheckpoint({start, at, detector: detector?.snapshot()}, ended)
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
      this.#options.onPartial({seq: ++current.seq, text, stableText: stable, confidence, nBest})
    } catch (error) {
      // The final result does not depend on drafts, and reports a failed model itself.
      if (!signal.aborted) this.#options.onDraftFailure?.(error)
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
    this.#options.transcribe(audio.from(audio.start), this.#hint, memo, stop.signal).catch(() => undefined)
  }
}

function joined(pieces: readonly Float32Array[], length: number): Float32Array {
  const [first] = pieces
  if (pieces.length === 1 && first !== undefined) return first
  const all = new Float32Array(length)
  let at = 0
  for (const piece of pieces) {
    all.set(piece, at)
    at += piece.length
  }
  return all
}
