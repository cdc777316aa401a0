import {createPowerSpectrum, frameLength, hann, spectrumLength} from './fourier.js'
import {hopLength} from './log-mel.js'

/** Band edges in bins of 40 Hz: 120 Hz to 7.6 kHz, wider towards high frequencies, as critical bands are. */
const edges = [3, 8, 15, 25, 40, 60, 85, 125, 190]
export const bandCount = edges.length - 1

/** Converts the one-sided power spectrum to the mean square of the samples, corrected for the window's power. */
const scale = 2 / (frameLength * hann.reduce((sum, w) => sum + w * w, 0))
const quietest = 1e-12

export interface FrameLevels {
  /** Level of each band, dB relative to a full-scale square wave. */
  bands: Float32Array
  /** Level over all bands, dB. */
  overall: number
}

/**
 * Band levels of streamed samples, in 25 ms frames every 10 ms. Frames are centred: half a frame of silence is added
 * before the first sample and after the last one.
 */
export class BandLevels {
  readonly #spectrum = createPowerSpectrum()
  readonly #frame = new Float64Array(frameLength)
  readonly #power = new Float64Array(spectrumLength)
  #rest: Float32Array

  /** @param rest samples that do not fill a frame yet */
  constructor(rest: Float32Array = new Float32Array(frameLength / 2)) {
    this.#rest = rest
  }

  get rest(): Float32Array {
    return this.#rest
  }

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
