import {sampleRate} from '../model/model.js'

/** The audio of one utterance. Positions are samples from the start of the live audio. */
export class Utterance {
  #pieces: Float32Array[] = []
  #start: number
  #end: number

  constructor(start: number) {
    this.#start = start
    this.#end = start
  }

  get start(): number {
    return this.#start
  }

  get end(): number {
    return this.#end
  }

  get durationMs(): number {
    return (1000 * (this.#end - this.#start)) / sampleRate
  }

  add(samples: Float32Array): void {
    this.#pieces.push(samples)
    this.#end += samples.length
  }

  /** Drops complete pieces before a position. */
  dropBefore(position: number): void {
    for (const first of [...this.#pieces]) {
      if (this.#start + first.length > position) return
      this.#start += first.length
      this.#pieces.shift()
    }
  }

  /** A copy of the audio from a position on. */
  from(position: number): Float32Array {
    const out = new Float32Array(Math.max(0, this.#end - position))
    let at = this.#end
    for (let i = this.#pieces.length - 1; i >= 0 && at > position; i--) {
      const piece = this.#pieces[i] as Float32Array
      at -= piece.length
      out.set(at < position ? piece.subarray(position - at) : piece, Math.max(0, at - position))
    }
    return out
  }
}
