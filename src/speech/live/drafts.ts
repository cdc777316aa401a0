import {
  type Draft,
  type DraftStream,
  draftPaddingSec,
  type RecognitionOptions,
  type SpeechModel,
  sampleRate,
} from '../model/model.js'
import {joinTexts} from '../text/join-texts.js'
import type {Utterance} from './utterance.js'

/** Minimum new audio for a draft, and minimum time between the starts of two drafts. */
const minMs = 300
/** A window is encoded again only after new audio of this share of its length. */
const newShare = 1 / 4
/** A window longer than this is cut after its stable segments, seconds. */
const cutAfterSec = 15
/** Audio before the detected start of speech, samples. */
const lead = 0.05 * sampleRate

/** Drafts the text of one utterance while it is spoken. */
export interface Drafts {
  /** Audio that was encoded for drafts, seconds. */
  readonly encodedSec: number
  /** Returns whether a draft now is worth its computation. @param now ms */
  isDue(utterance: Utterance, now: number): boolean
  /** Drafts the complete text up to the end of the audio; undefined if the decoder repeated itself. */
  next(utterance: Utterance, now: number, signal: AbortSignal): Promise<Draft | undefined>
  /** Reports how many words of the last draft are stable. */
  stable(words: number): void
  close(): void
}

/** @param spokenFrom start of the speech, samples */
export const createDrafts = (model: SpeechModel, options: RecognitionOptions, spokenFrom: number): Drafts =>
  model.draft === undefined
    ? new WindowDrafts(model, options, spokenFrom)
    : new StreamDrafts(model.draft(options), spokenFrom)

/** Drafts of a model that encodes each sample once. */
class StreamDrafts implements Drafts {
  encodedSec = 0
  readonly #stream: DraftStream
  #at: number

  constructor(stream: DraftStream, spokenFrom: number) {
    this.#stream = stream
    this.#at = spokenFrom - lead
  }

  isDue({end}: Utterance): boolean {
    return 1000 * (end - this.#at) >= minMs * sampleRate
  }

  async next(utterance: Utterance): Promise<Draft> {
    const samples = utterance.from(Math.max(this.#at, utterance.start))
    this.#at = utterance.end
    this.encodedSec += samples.length / sampleRate
    return this.#stream.push(samples)
  }

  stable(): void {}

  close(): void {
    this.#stream.close()
  }
}

/** Drafts of a model that encodes windows: from the last cut to the end of the audio, again and again. */
class WindowDrafts implements Drafts {
  encodedSec = 0
  readonly #model: SpeechModel
  readonly #options: RecognitionOptions
  /** Start of the window, and the text before it. */
  #from: number
  #before = ''
  #draftedTo: number
  #startedAt = -Infinity
  /** Where the window could be cut: the text up to there, and its number of words. */
  #cuts: {at: number; text: string; words: number}[] = []

  constructor(model: SpeechModel, options: RecognitionOptions, spokenFrom: number) {
    this.#model = model
    this.#options = {...options, draft: true}
    this.#from = Math.max(0, spokenFrom - lead)
    this.#draftedTo = this.#from
  }

  isDue({end}: Utterance, now: number): boolean {
    const freshSec = (end - this.#draftedTo) / sampleRate
    const minSec = Math.max(minMs / 1000, newShare * this.#encoded((end - this.#from) / sampleRate))
    return now - this.#startedAt >= minMs && freshSec >= minSec
  }

  /** Audio that is encoded for a window of this length, seconds. */
  #encoded(seconds: number): number {
    const {drafts, windowSec} = this.#model.description
    return drafts === 'full' ? windowSec : Math.min(windowSec, seconds + draftPaddingSec)
  }

  async next(utterance: Utterance, now: number, signal: AbortSignal): Promise<Draft | undefined> {
    const from = Math.max(this.#from, utterance.start, utterance.end - this.#model.description.windowSec * sampleRate)
    const samples = utterance.from(from)
    this.#draftedTo = utterance.end
    this.#startedAt = now
    this.encodedSec += this.#encoded(samples.length / sampleRate)
    const {segments} = await this.#model.recognise(samples, this.#options, signal)
    if (segments.some(({compressionRatio}) => compressionRatio > this.#options.compressionRatioThreshold))
      return undefined
    this.#cuts = segments.slice(0, -1).map(({endSec}, i) => {
      const text = joinTexts([this.#before, ...segments.slice(0, i + 1).map((segment) => segment.text)])
      return {at: from + Math.round(endSec * sampleRate), text, words: text.trim().split(/\s+/).length}
    })
    const text = joinTexts([this.#before, ...segments.map((segment) => segment.text)])
    return {text, certain: text}
  }

  stable(words: number): void {
    if (this.#draftedTo - this.#from < cutAfterSec * sampleRate) return
    const cut = this.#cuts.findLast((one) => one.words <= words)
    if (cut === undefined) return
    this.#from = cut.at
    this.#before = cut.text
    this.#cuts = []
  }

  close(): void {}
}
