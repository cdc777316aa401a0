/** Histogram of frame levels over a sliding window, one per band, for fast percentiles. */
export class LevelHistogram {
  readonly #counts: Uint16Array
  readonly #bands: number
  #frames: number

  /** @param state a copy of the state of another one */
  constructor(bands: number, {counts, frames}: HistogramState = {counts: new Uint16Array(bands * bins), frames: 0}) {
    this.#bands = bands
    this.#counts = counts
    this.#frames = frames
  }

  get state(): HistogramState {
    return {counts: this.#counts, frames: this.#frames}
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

  /** Level of each band that the given share of the frames does not exceed, dB, `[bands]`. */
  percentile(share: number): Float32Array {
    const rank = Math.max(1, Math.round(share * this.#frames))
    return Float32Array.from({length: this.#bands}, (_, band) => {
      let bin = 0
      let seen = this.#counts[band * bins]!
      while (bin < bins - 1 && seen < rank) seen += this.#counts[band * bins + ++bin]!
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

/** Frames per band and bin, `[bands, bins]`, and their number. */
export interface HistogramState {
  counts: Uint16Array
  frames: number
}

/** From -120 to 8 dB in steps of 0.5 dB. */
const lowest = -120
const binWidth = 0.5
const bins = 257
