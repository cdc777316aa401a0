import {createPowerSpectrum, frameLength, hann, spectrumLength} from './fourier.js'
import {type MelFilters, melFilters} from './mel-filters.js'

/** Samples between frames: 10 ms at 16 kHz. */
export const hopLength = 160

const pad = frameLength / 2
/** Lower bound of the mel powers. */
const floor = 1e-10
/** Dynamic range in units of log10: 80 dB below the maximum. */
const range = 8

/**
 * Whisper's log-mel features: power spectra of centred 25 ms frames every 10 ms, mel filters, log10, clamped to 80 dB
 * below the maximum, scaled to about -1 to 1. Source: Radford et al. 2022 and openai/whisper.
 * @param samples mono at 16 kHz, padded with silence or truncated to `frames * 160`
 * @returns `[bins, frames]`, row-major
 */
export function logMel(samples: Float32Array, {bins, frames}: {bins: number; frames: number}): Float32Array {
  const filters = melFilters(bins)
  const length = frames * hopLength
  const sound = samples.length > length ? samples.subarray(0, length) : samples
  const out = new Float32Array(bins * frames)
  // Frames beyond the last sample are silence and need no transform.
  const computed = Math.min(frames, Math.ceil((sound.length + pad) / hopLength))
  const loudest = fillPowers(out, sound, length, computed, frames, filters)
  const silence = Math.log10(floor)
  for (let bin = 0; bin < bins; bin++) out.fill(silence, bin * frames + computed, (bin + 1) * frames)
  const lowest = (computed < frames ? Math.max(loudest, silence) : loudest) - range
  for (let i = 0; i < out.length; i++) out[i] = (Math.max(out[i]!, lowest) + 4) / 4
  return out
}

/** Writes log10 of the mel powers of the first `computed` frames; returns the maximum. */
function fillPowers(
  out: Float32Array,
  sound: Float32Array,
  length: number,
  computed: number,
  frames: number,
  filters: MelFilters,
): number {
  const measure = frameMeter(filters)
  let loudest = -Infinity
  for (let t = 0; t < computed; t++)
    loudest = Math.max(
      loudest,
      measure(out, t, frames, (frame) => windowed(frame, sound, t * hopLength - pad, length)),
    )
  return loudest
}

/** Measures one frame: writes its mel powers, log10, to column `t` of `[bins, frames]`, and returns their maximum. */
type FrameMeter = (out: Float32Array, t: number, frames: number, fill: (frame: Float64Array) => void) => number

function frameMeter({bins, first, offsets, weights}: MelFilters): FrameMeter {
  const spectrum = createPowerSpectrum()
  const frame = new Float64Array(frameLength)
  const power = new Float64Array(spectrumLength)
  return (out, t, frames, fill) => {
    fill(frame)
    spectrum.transform(frame, power)
    let loudest = -Infinity
    for (let bin = 0; bin < bins; bin++) {
      const start = offsets[bin]!
      const end = offsets[bin + 1]!
      let sum = 0
      for (let i = start, k = first[bin]!; i < end; i++, k++) sum += weights[i]! * power[k]!
      const level = Math.log10(Math.max(sum, floor))
      out[bin * frames + t] = level
      if (level > loudest) loudest = level
    }
    return loudest
  }
}

/**
 * Log-mel features of audio that arrives in pieces. The audio starts after silence. Frames are clamped to 80 dB below
 * the loudest frame so far instead of the loudest one of all; otherwise they equal those of `logMel`.
 */
export class LogMelStream {
  readonly #bins: number
  readonly #measure: FrameMeter
  /** Samples from the start of the next frame. */
  #sound = new Float32Array(pad)
  #loudest = -Infinity

  constructor(bins: number) {
    this.#bins = bins
    this.#measure = frameMeter(melFilters(bins))
  }

  /**
   * Adds samples, mono at 16 kHz.
   * @returns levels of the frames that are complete, log10 of the mel powers `[bins, frames]`, row-major
   */
  push(samples: Float32Array): {data: Float32Array; frames: number} {
    const sound = new Float32Array(this.#sound.length + samples.length)
    sound.set(this.#sound)
    sound.set(samples, this.#sound.length)
    const frames = Math.max(0, Math.floor((sound.length - frameLength) / hopLength) + 1)
    const data = new Float32Array(this.#bins * frames)
    for (let t = 0; t < frames; t++) {
      const level = this.#measure(data, t, frames, (frame) => {
        for (let i = 0; i < frameLength; i++) frame[i] = sound[t * hopLength + i]! * hann[i]!
      })
      this.#loudest = Math.max(this.#loudest, level)
    }
    this.#sound = sound.slice(frames * hopLength)
    return {data, frames}
  }

  /** Levels of silence, `[bins, frames]`. */
  silence(frames: number): {data: Float32Array; frames: number} {
    return {data: new Float32Array(this.#bins * frames).fill(Math.log10(floor)), frames}
  }

  /** The features of levels. */
  features(levels: Float32Array): Float32Array {
    const lowest = this.#loudest - range
    return levels.map((level) => (Math.max(level, lowest) + 4) / 4)
  }
}

/** Writes the windowed frame that begins at `start`; both ends of the padded samples are reflected. */
function windowed(frame: Float64Array, sound: Float32Array, start: number, length: number): void {
  if (start >= 0 && start + frameLength <= sound.length) {
    for (let i = 0; i < frameLength; i++) frame[i] = sound[start + i]! * hann[i]!
    return
  }
  for (let i = 0; i < frameLength; i++) {
    const at = start + i
    const place = at < 0 ? -at : at >= length ? 2 * (length - 1) - at : at
    frame[i] = (sound[place] ?? 0) * hann[i]!
  }
}
