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
  {bins, first, offsets, weights}: MelFilters,
): number {
  const spectrum = createPowerSpectrum()
  const frame = new Float64Array(frameLength)
  const power = new Float64Array(spectrumLength)
  let loudest = -Infinity
  for (let t = 0; t < computed; t++) {
    windowed(frame, sound, t * hopLength - pad, length)
    spectrum.transform(frame, power)
    for (let bin = 0; bin < bins; bin++) {
      const start = offsets[bin]!
      const end = offsets[bin + 1]!
      let sum = 0
      for (let i = start, k = first[bin]!; i < end; i++, k++) sum += weights[i]! * power[k]!
      const level = Math.log10(Math.max(sum, floor))
      out[bin * frames + t] = level
      if (level > loudest) loudest = level
    }
  }
  return loudest
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
