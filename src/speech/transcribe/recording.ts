import type {AudioStream, SpeechRegion, VoiceActivityDetector} from '../../audio/index.js'
import {sampleRate} from '../model/model.js'

/** Read-ahead that lets the detector decide about the end of a window, samples. */
const lookAhead = 1.25 * sampleRate

/** Audio that is read while the model is loaded, samples. */
const maxAhead = 30 * sampleRate

/** Maximum number of successive pieces without samples; a decoder that returns more would never end. */
const maxEmpty = 10_000

/**
 * A sliding buffer over a recording: audio is read on demand and released after use, so memory use does not depend on
 * the duration. Positions are samples from the start.
 */
export class Recording {
  readonly #source: AsyncIterator<Float32Array>
  readonly #detector: VoiceActivityDetector | undefined
  /** Samples by which regions are extended at both ends; they never overlap. */
  readonly #padding: number
  #pieces: Float32Array[] = []
  #first = 0
  #end = 0
  #ended = false
  #regions: SpeechRegion[] = []
  /** End of the last region. */
  #spoken = 0
  /** Number of successive pieces without samples. */
  #empty = 0
  /** The piece that is being read; rejected for ever if that fails. */
  #reading: Promise<void> | undefined

  constructor(stream: AudioStream, detector?: VoiceActivityDetector, paddingSec = 0) {
    this.#source = stream[Symbol.asyncIterator]()
    this.#detector = detector
    this.#padding = Math.round(paddingSec * sampleRate)
  }

  /** End of the audio that was read. */
  get end(): number {
    return this.#end
  }

  /** True if the recording has no more audio. */
  get ended(): boolean {
    return this.#ended
  }

  /** True if speech is detected. */
  get detects(): boolean {
    return this.#detector !== undefined
  }

  /** Reads until position `to` was read and classified, or the recording ends. */
  async fill(to: number): Promise<void> {
    const wanted = this.#detector === undefined ? to : to + lookAhead + this.#padding
    while (!this.#ended && this.#end < wanted) {
      this.#reading ??= this.#read().then(() => {
        this.#reading = undefined
      })
      await this.#reading
    }
  }

  /** Reads and classifies the start of the recording until `work` has ended. The next `fill` throws what fails here. */
  async readDuring(work: Promise<unknown>): Promise<void> {
    let isRunning = true
    const stop = () => {
      isRunning = false
    }
    void work.then(stop, stop)
    while (isRunning && !this.#ended && this.#end < maxAhead) await this.fill(this.#end + 1).catch(stop)
  }

  /** Returns the speech regions: those that have ended, and the open one. */
  speech(): readonly SpeechRegion[] {
    const open = this.#detector?.open
    return open === undefined ? this.#regions : [...this.#regions, this.#padded(open)]
  }

  /** Returns the regions that have ended; no later one starts before `settled`. */
  closedSpeech(): readonly SpeechRegion[] {
    return this.#regions
  }

  get settled(): number {
    if (this.#ended) return this.#end
    const settled = Math.min(this.#detector?.open?.start ?? Infinity, this.#detector?.settled ?? this.#end)
    return Math.max(0, settled - this.#padding)
  }

  /** True if there is certainly no speech between two positions that were read. */
  isSilent(from: number, to: number): boolean {
    if (this.#detector === undefined || this.settled < to) return false
    return !this.speech().some(({start, end}) => start < to && end > from)
  }

  /** Returns a copy of the audio between two positions, at most up to the end. */
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

  /** Releases the audio and the regions before a position. */
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
      if (this.#detector !== undefined) this.#add(await this.#detector.flush())
      return
    }
    this.#empty = value.length === 0 ? this.#empty + 1 : 0
    if (this.#empty > maxEmpty) throw new Error(`The decoder made no progress at sample ${this.#end}.`)
    this.#pieces.push(value)
    this.#end += value.length
    if (this.#detector !== undefined) this.#add(await this.#detector.push(value))
  }

  #add(regions: readonly SpeechRegion[]): void {
    for (const region of regions) {
      const padded = this.#padded(region)
      this.#regions.push(padded)
      this.#spoken = padded.end
    }
  }

  #padded({start, end}: SpeechRegion): SpeechRegion {
    return {start: Math.max(start - this.#padding, this.#spoken), end: end + this.#padding}
  }
}
