import type {AudioStream, SpeechRegion, VoiceActivityDetector} from '../../audio/index.js'
import {sampleRate} from '../model.js'

/** Read ahead, so that the detector has made up its mind about the end of a window, samples. */
const lookAhead = 1.25 * sampleRate

/**
 * The part of a recording that is being worked on. Sound is read as far as it is needed and let go of when it is done
 * with, so that a recording of any length takes the memory of a window. Places are samples from its start.
 */
export class Recording {
  readonly #source: AsyncIterator<Float32Array>
  readonly #detector: VoiceActivityDetector | undefined
  #pieces: Float32Array[] = []
  #first = 0
  #end = 0
  #ended = false
  #regions: SpeechRegion[] = []

  constructor(stream: AudioStream, detector?: VoiceActivityDetector) {
    this.#source = stream[Symbol.asyncIterator]()
    this.#detector = detector
  }

  /** How far sound has been read. */
  get end(): number {
    return this.#end
  }

  /** Whether the recording ends there. */
  get ended(): boolean {
    return this.#ended
  }

  /** Whether it is known where people speak. */
  get detects(): boolean {
    return this.#detector !== undefined
  }

  /** Reads until `to` is there and the detector knows about it, or the recording ends. */
  async fill(to: number): Promise<void> {
    const wanted = this.#detector === undefined ? to : to + lookAhead
    while (!this.#ended && this.#end < wanted) await this.#read()
  }

  /** Where people speak: the regions that have ended, and the open one. */
  speech(): readonly SpeechRegion[] {
    const open = this.#detector?.open
    return open === undefined ? this.#regions : [...this.#regions, open]
  }

  /** Regions that have ended; no later one begins before `settled`. */
  closedSpeech(): readonly SpeechRegion[] {
    return this.#regions
  }

  get settled(): number {
    if (this.#ended) return this.#end
    return Math.min(this.#detector?.open?.start ?? Infinity, this.#detector?.settled ?? this.#end)
  }

  /** Whether it is sure that nobody speaks between two places that have been read. */
  isSilent(from: number, to: number): boolean {
    if (this.#detector === undefined || this.settled < to) return false
    return !this.speech().some(({start, end}) => start < to && end > from)
  }

  /** A copy of the sound between two places, cut at the end of the recording. */
  slice(from: number, to: number): Float32Array {
    const end = Math.min(to, this.#end)
    const out = new Float32Array(Math.max(0, end - from))
    let at = this.#first
    for (const piece of this.#pieces) {
      const start = Math.max(from, at)
      const stop = Math.min(end, at + piece.length)
      if (start < stop) out.set(piece.subarray(start - at, stop - at), start - from)
      at += piece.length
    }
    return out
  }

  /** Lets go of the sound and the regions before a place. */
  release(before: number): void {
    while (this.#pieces[0] !== undefined && this.#first + this.#pieces[0].length <= before)
      this.#first += (this.#pieces.shift() as Float32Array).length
    this.#regions = this.#regions.filter(({end}) => end > before)
  }

  async close(): Promise<void> {
    await this.#source.return?.()
  }

  async #read(): Promise<void> {
    const {value, done} = await this.#source.next()
    if (done) {
      this.#ended = true
      if (this.#detector !== undefined) this.#regions.push(...(await this.#detector.flush()))
      return
    }
    this.#pieces.push(value)
    this.#end += value.length
    if (this.#detector !== undefined) this.#regions.push(...(await this.#detector.push(value)))
  }
}
