/** A streaming sample rate converter. */
export interface Resampler {
  push(samples: Float32Array): Float32Array
  /** Returns the remaining samples; all outputs together have `round(length * to / from)` samples. */
  flush(): Float32Array
}

/** Zero crossings of the filter on each side, in samples of the lower rate. */
const zeroCrossings = 16
/** Shape of the Kaiser window: about 90 dB of stopband attenuation. */
const kaiserBeta = 9
/** Width of the passband as a share of the lower Nyquist frequency. */
const passband = 0.95
/** Maximum number of filter phases; more are inaudible. */
const maxPhases = 4096

/**
 * A band-limited resampler between any two rates: a windowed sinc in polyphase form. Its delay is compensated, so output
 * sample n is at `n * from / to` of the input. The output does not depend on the size of the chunks.
 * Source: J. O. Smith, Digital Audio Resampling.
 * @param from Hz, an integer
 * @param to Hz, an integer
 */
export function resampler(from: number, to: number): Resampler {
  if (from === to) return {push: (samples) => samples, flush: () => new Float32Array(0)}
  const filter = createFilter(from, to)
  const step = from / to
  const {half} = filter
  // Holds samples from index `first`; those with a negative index are silence.
  let buffer = new Float32Array(half)
  let first = -half
  let received = 0
  let produced = 0

  const produce = (end: number): Float32Array => {
    const from0 = produced
    const count = Math.max(0, end - from0)
    const out = new Float32Array(count)
    for (let i = 0; i < count; i++) out[i] = valueAt(filter, buffer, (from0 + i) * step - first)
    produced += count
    const keep = Math.floor(produced * step) - half + 1
    const drop = Math.min(Math.max(0, keep - first), buffer.length)
    buffer = buffer.slice(drop)
    first += drop
    return out
  }
  const append = (samples: Float32Array) => {
    const joined = new Float32Array(buffer.length + samples.length)
    joined.set(buffer)
    joined.set(samples, buffer.length)
    buffer = joined
  }
  return {
    push(samples) {
      append(samples)
      received += samples.length
      // Up to the last output whose filter lies within the buffer.
      return produce(Math.floor((received - 1 - half) / step) + 1)
    },
    flush() {
      append(new Float32Array(half + 1))
      return produce(Math.round(received / step))
    },
  }
}

interface Filter {
  /** Input samples on each side of an output sample. */
  half: number
  phases: number
  /** `[phases + 1, 2 * half]`. */
  taps: Float32Array
}

function createFilter(from: number, to: number): Filter {
  const scale = Math.min(1, to / from)
  const half = Math.ceil(zeroCrossings / (scale * passband))
  const phases = Math.min(maxPhases, to / greatestCommonDivisor(from, to))
  const width = 2 * half
  const taps = new Float32Array((phases + 1) * width)
  for (let phase = 0; phase <= phases; phase++) {
    const row = taps.subarray(phase * width, (phase + 1) * width)
    let sum = 0
    for (let k = 0; k < width; k++) {
      const t = k - half + 1 - phase / phases
      row[k] = sinc(t * scale * passband) * kaiser(t / half)
      sum += row[k]!
    }
    // Every phase has unit gain at 0 Hz.
    for (let k = 0; k < width; k++) row[k]! /= sum
  }
  return {half, phases, taps}
}

/** The interpolated value at a fractional position. */
function valueAt({half, phases, taps}: Filter, buffer: Float32Array, position: number): number {
  const whole = Math.floor(position)
  const phase = Math.round((position - whole) * phases)
  const start = whole - half + 1
  const width = 2 * half
  let sum = 0
  for (let k = 0, at = phase * width; k < width; k++, at++) sum += taps[at]! * buffer[start + k]!
  return sum
}

const sinc = (x: number) => (x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x))

const kaiser = (x: number) =>
  Math.abs(x) >= 1 ? 0 : besselI0(kaiserBeta * Math.sqrt(1 - x * x)) / besselI0(kaiserBeta)

/** Modified Bessel function of the first kind, order 0, by its series. */
function besselI0(x: number): number {
  let term = 1
  let sum = 1
  for (let k = 1; term > 1e-12 * sum; k++) {
    term *= (x / 2 / k) ** 2
    sum += term
  }
  return sum
}

const greatestCommonDivisor = (a: number, b: number): number => (b === 0 ? a : greatestCommonDivisor(b, a % b))
