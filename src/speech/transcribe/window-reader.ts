import {
  type ConstraintWarning,
  type RecognitionOptions,
  type SpeechModel,
  sampleRate,
  type WindowResult,
} from '../model/model.js'
import {fitToSpeech} from './fit-to-speech.js'
import {withoutHallucinations} from './hallucinations.js'
import {moveSegment} from './move-events.js'
import {type PassageWindow, recognitionOf, type TranscribeOptions, type TranscribeTimings} from './options.js'
import type {Recording} from './recording.js'

/** Maximum temperature at which the text is used as the prompt of the next window. */
const hintTemperature = 0.5

/**
 * Recognises the windows of a recording in order and keeps their common state: the language, the previous text and the
 * timings.
 */
export class WindowReader {
  readonly timings: TranscribeTimings = {featuresMs: 0, encodeMs: 0, decodeMs: 0, wholeHeads: 0, windows: 0}
  language: {code: string; probability: number} | undefined
  /** Warnings of the windows so far, each once. */
  readonly warnings: ConstraintWarning[] = []
  readonly #model: SpeechModel
  readonly #recording: Recording
  readonly #options: TranscribeOptions
  readonly #signal: AbortSignal | undefined
  readonly #prepared = new Map<string, WindowResult>()
  #previous: number[] = []
  /** End of the last word so far. */
  #lastWordSec = 0
  #prompt: string | undefined

  constructor(model: SpeechModel, recording: Recording, options: TranscribeOptions, signal: AbortSignal | undefined) {
    this.#model = model
    this.#recording = recording
    this.#options = options
    this.#signal = signal
    this.#prompt = options.prompt
  }

  /** Recognises the audio between two positions, in samples. `next` is the start of the next window. */
  async read(from: number, to: number): Promise<{window: PassageWindow; next: number}> {
    const samples = this.#samples(from, to)
    // The engine may transfer the buffer of the samples.
    const end = from + samples.length
    const recognition = this.#recognition()
    const key = prepared(from, end, recognition)
    const known = this.#prepared.get(key)
    this.#prepared.delete(key)
    const recognise = async () => known ?? (await this.#model.recognise(samples, recognition, this.#signal))
    const {memo} = this.#options
    const heard = await (memo?.recognise({from, to: end}, recognition, recognise) ?? recognise())
    const result = await this.#withoutHallucinations(heard, from, end)
    this.#learn(result)
    const startSec = from / sampleRate
    const speech = this.#speech(from, end)
    const segments = result.segments.map((segment) => fitToSpeech(moveSegment(segment, startSec), speech))
    return {
      window: {startSec, endSec: end / sampleRate, segments, alternatives: result.alternatives},
      next: from + Math.max(minStep, Math.round(result.consumedSec * sampleRate)),
    }
  }

  /**
   * Recognises windows that do not follow each other together, and keeps the results for `read`. It needs the language:
   * without it, nothing is recognised.
   */
  async prepare(spans: readonly {from: number; to: number}[]): Promise<void> {
    this.forget()
    this.#prepared.clear()
    const recognition = this.#recognition()
    const windows = spans
      .map(({from, to}) => ({from, samples: this.#samples(from, to)}))
      .map((window) => ({...window, to: window.from + window.samples.length}))
      .filter(({from, to}) => !this.#options.memo?.has?.({from, to}, recognition))
    if (recognition.language === undefined || windows.length < 2) return
    const sounds = windows.map(({samples}) => samples)
    const results = (await this.#model.recogniseAll?.(sounds, recognition, this.#signal)) ?? []
    for (const [i, {from, to}] of windows.entries())
      this.#prepared.set(prepared(from, to, recognition), results[i] as WindowResult)
  }

  async #withoutHallucinations(result: WindowResult, from: number, end: number): Promise<WindowResult> {
    const {hallucinationSilenceSec: thresholdSec} = this.#options
    const {timestamps, windowSec} = this.#model.description
    // Without timestamps, the next window does not start where the text of this one ends.
    if (thresholdSec === undefined || !timestamps) return result
    await this.#recording.fill(end + thresholdSec * sampleRate)
    const startSec = from / sampleRate
    const place = {
      recordingStartSec: -startSec,
      recordingEndSec: this.#recording.ended ? this.#recording.end / sampleRate - startSec : Infinity,
      lastWordSec: this.#lastWordSec - startSec,
      audioSec: (end - from) / sampleRate,
      windowSec,
    }
    const kept = withoutHallucinations(result, place, thresholdSec)
    const last = kept.segments.at(-1)
    if (last !== undefined) this.#lastWordSec = startSec + last.endSec
    return kept
  }

  #samples(from: number, to: number): Float32Array {
    const sound = this.#recording.slice(from, to)
    return this.#options.preprocess?.(sound) ?? sound
  }

  /** Forgets the previous text, because the next window does not follow it. */
  forget(): void {
    this.#previous = []
    this.#prompt = this.#options.prompt
  }

  #recognition(): RecognitionOptions {
    return {
      ...recognitionOf(this.#options),
      language: this.#options.language ?? this.language?.code,
      prompt: this.#prompt,
      previousTokens: this.#options.conditionOnPrevious ? [...this.#previous] : [],
    }
  }

  #learn({language, languageProbability, segments, temperature, noSpeech, timings, warnings}: WindowResult): void {
    this.warnings.push(...warnings.filter(({code}) => !this.warnings.some((known) => known.code === code)))
    this.timings.featuresMs += timings.featuresMs
    this.timings.encodeMs += timings.encodeMs
    this.timings.decodeMs += timings.decodeMs
    this.timings.wholeHeads += timings.wholeHeads
    this.timings.windows++
    // Silence does not determine the language.
    if (!noSpeech && segments.length > 0) this.language ??= {code: language, probability: languageProbability}
    if (temperature > hintTemperature) this.#previous = []
    else this.#previous.push(...segments.flatMap(({tokens}) => tokens))
    this.#previous.splice(0, this.#previous.length - maxPrevious)
    if (segments.length > 0) this.#prompt = undefined
  }

  /** Returns the speech between two positions, seconds. */
  #speech(from: number, to: number) {
    return this.#recording
      .speech()
      .filter(({start, end}) => start < to && end > from)
      .map(({start, end}) => ({startSec: start / sampleRate, endSec: end / sampleRate}))
  }
}

/** Identifies a window by its samples and options. */
const prepared = (from: number, to: number, recognition: RecognitionOptions): string =>
  JSON.stringify([from, to, recognition])

/** Minimum advance of a window: one mel frame. */
const minStep = 160

/** Maximum number of previous tokens to keep; no model uses more. */
const maxPrevious = 256
