/** Resampling to the rate of speech models. */

/**
 * Resamples mono audio to 16 kHz with a windowed sinc filter. The class refers to nothing outside, because its source
 * also runs in the audio thread.
 */
export class Resampler {
  #rate
  /** Half of the filter, input samples. */
  #half
  /** Cut-off frequency as a part of the input rate; below half the lower rate, so that nothing is aliased. */
  #cutoff
  /** Filters by the position between two input samples. Their number is finite, because rates are integers. */
  #filters = new Map()
  /** Input that later output needs, and the position of its first sample. */
  #input
  #start
  #made = 0

  /** @param rate rate of the input, Hz */
  constructor(rate) {
    this.#rate = rate
    this.#half = Math.ceil(24 * Math.max(1, rate / 16_000))
    this.#cutoff = (0.46 * Math.min(rate, 16_000)) / rate
    this.#input = new Float32Array(this.#half)
    this.#start = -this.#half
  }

  /** @returns the output that the input so far determines */
  push(samples) {
    const input = new Float32Array(this.#input.length + samples.length)
    input.set(this.#input)
    input.set(samples, this.#input.length)
    const output = []
    for (;;) {
      const scaled = this.#made * this.#rate
      const whole = Math.floor(scaled / 16_000)
      const first = whole - this.#half + 1 - this.#start
      if (first + 2 * this.#half > input.length) {
        const kept = Math.max(0, first)
        this.#input = input.slice(kept)
        this.#start += kept
        return Float32Array.from(output)
      }
      const filter = this.#filter(scaled - 16_000 * whole)
      let sum = 0
      for (let i = 0; i < filter.length; i++) sum += filter[i] * input[first + i]
      output.push(sum)
      this.#made++
    }
  }

  /** @returns the output for the end of the input, which silence follows */
  flush() {
    return this.push(new Float32Array(this.#half))
  }

  #filter(phase) {
    const known = this.#filters.get(phase)
    if (known !== undefined) return known
    const made = Float32Array.from({length: 2 * this.#half}, (_, i) => {
      const x = i - this.#half + 1 - phase / 16_000
      const window = 0.5 + 0.5 * Math.cos((Math.PI * x) / this.#half)
      const angle = 2 * Math.PI * this.#cutoff * x
      return 2 * this.#cutoff * window * (angle === 0 ? 1 : Math.sin(angle) / angle)
    })
    this.#filters.set(phase, made)
    return made
  }
}
