import {createPowerSpectrum, frameLength, hann, spectrumLength} from './fourier.js'
import {hopLength} from './log-mel.js'

/** Edges of the bands in bins of 40 Hz: 120 Hz to 7.6 kHz, about as wide as hearing is. */
const edges = [3, 8, 15, 25, 40, 60, 85, 125, 190]
export const bandCount = edges.length - 1

/** From the power of one side of the spectrum to the mean square of the samples, the window's own power taken out. */
const scale = 2 / (frameLength * hann.reduce((sum, w) => sum + w * w, 0))
const quietest = 1e-12

export interface FrameLevels {
  /** Of each band, dB below a full-scale square wave. */
  bands: Float32Array
  /** Of all bands together. */
  overall: number
}

/**
 * Levels in bands of frames of 25 ms every 10 ms, as sound comes in; silence goes before it. At the end
 * the frames whose middle still lies in the sound are given too.
 */
export class BandLevels {
  readonly #spectrum = createPowerSpectrum()
  readonly #frame = new Float64Array(frameLength)
  readonly #power = new Float64Array(spectrumLength)
  #rest: Float32Array = new Float32Array(frameLength / 2)

  /** The frames at the end. */
  flush(): Generator<FrameLevels, void, undefined> {
    return this.push(new Float32Array(frameLength / 2))
  }

  *push(samples: Float32Array): Generator<FrameLevels, void, undefined> {
    const sound = new Float32Array(this.#rest.length + samples.length)
    sound.set(this.#rest)
    sound.set(samples, this.#rest.length)
    let at = 0
    for (; at + frameLength <= sound.length; at += hopLength) yield this.#levels(sound.subarray(at, at + frameLength))
    this.#rest = sound.slice(at)
  }

  #levels(frame: Float32Array): FrameLevels {
    for (let i = 0; i < frameLength; i++) this.#frame[i] = frame[i]! * hann[i]!
    this.#spectrum.transform(this.#frame, this.#power)
    const bands = new Float32Array(bandCount)
    let total = 0
    for (let band = 0; band < bandCount; band++) {
      let power = 0
      for (let bin = edges[band]!; bin < edges[band + 1]!; bin++) power += this.#power[bin]!
      bands[band] = decibels(power * scale)
      total += power * scale
    }
    return {bands, overall: decibels(total)}
  }
}

const decibels = (power: number) => 10 * Math.log10(Math.max(power, quietest))
