/** Counts levels of the frames in a sliding window, to find out quickly how quiet its quiet ones are. */
export class LevelHistogram {
  readonly #counts: Uint16Array
  readonly #bands: number
  #frames = 0

  constructor(bands: number) {
    this.#bands = bands
    this.#counts = new Uint16Array(bands * bins)
  }

  get frames(): number {
    return this.#frames
  }

  add(levels: Float32Array): void {
    this.#count(levels, 1)
  }

  remove(levels: Float32Array): void {
    this.#count(levels, -1)
  }

  /** The level below which a share of the frames lies, dB, in each band. */
  percentile(share: number): Float32Array {
    const wanted = Math.max(1, Math.round(share * this.#frames))
    return Float32Array.from({length: this.#bands}, (_, band) => {
      let bin = 0
      let seen = this.#counts[band * bins]!
      while (bin < bins - 1 && seen < wanted) seen += this.#counts[band * bins + ++bin]!
      return lowest + bin * binWidth
    })
  }

  #count(levels: Float32Array, step: number): void {
    this.#frames += step
    for (let band = 0; band < this.#bands; band++) {
      const bin = Math.round((levels[band]! - lowest) / binWidth)
      this.#counts[band * bins + Math.max(0, Math.min(bins - 1, bin))]! += step
    }
  }
}

/** From -120 to 8 dB in steps of half a decibel. */
const lowest = -120
const binWidth = 0.5
const bins = 257
