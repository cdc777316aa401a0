import {sampleRate} from '../model/model.js'
import {advanced} from '../transcribe/advanced.js'

/** Blocks end at multiples of this position, samples. */
const blockSize = sampleRate / 20

/** Cuts live audio into blocks whose ends do not depend on how it arrives, so that results do not depend on it either. */
export class Blocks {
  /** Position after the last block, samples. */
  #end: number
  /** Samples that do not fill a block yet. */
  #rest: Float32Array[] = []
  #restLength = 0

  /** @param start position of the audio, samples */
  constructor(start: number) {
    this.#end = start
  }

  /** Adds samples, and returns the blocks that they complete. */
  *add(samples: Float32Array): Generator<Float32Array, void, undefined> {
    let from = 0
    for (;;) {
      const position = this.#end + this.#restLength
      const to = from + blockSize - (position % blockSize)
      if (to > samples.length) break
      this.#keep(samples.subarray(from, to))
      yield* this.takeRest()
      from = advanced(from, to)
    }
    if (from < samples.length) this.#keep(samples.subarray(from))
  }

  /** The samples that do not fill a block yet, unless there are none; the next block starts after them. */
  takeRest(): readonly Float32Array[] {
    if (this.#restLength === 0) return []
    const rest = joined(this.#rest, this.#restLength)
    this.#end += this.#restLength
    this.#rest = []
    this.#restLength = 0
    return [rest]
  }

  #keep(piece: Float32Array): void {
    this.#rest.push(piece)
    this.#restLength += piece.length
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
