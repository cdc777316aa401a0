import {readTensorFloat32, type TensorMap} from '../../weights/index.js'
import type {WhisperConfig} from './config.js'

export const positionsTensor = 'model.encoder.embed_positions.weight'

/** Tolerance for values in [-1, 1] rounded to 16 bits, including inexact conversions. */
const rounding = {F16: 1e-3, BF16: 8e-3} as const

/**
 * The encoder's sinusoidal positions `[positions, hidden]` in full precision, if the checkpoint contains them rounded to
 * 16 bits: the reference implementation uses exact ones. Undefined if the stored table must be used, because it is
 * exact or trained.
 */
export async function exactEncoderPositions(
  {audioPositions, hiddenSize}: WhisperConfig,
  tensors: TensorMap,
): Promise<Float32Array | undefined> {
  const stored = tensors.get(positionsTensor)
  const tolerance = rounding[stored?.dtype as keyof typeof rounding]
  if (stored === undefined || tolerance === undefined) return undefined
  const exact = sinusoids(audioPositions, hiddenSize)
  const values = await readTensorFloat32(stored)
  if (values.length !== exact.length) return undefined
  return values.every((value, i) => Math.abs(value - exact[i]!) <= tolerance) ? exact : undefined
}

/**
 * Sines in the first half of each row, cosines in the second, with wavelengths from 2 pi to 10,000 * 2 pi. Every step is
 * rounded to 32 bits as in PyTorch, because an error of 1 ulp in a frequency changes the angle at position 1,500 by 1e-4.
 */
export function sinusoids(length: number, channels: number): Float32Array {
  const half = channels / 2
  const step = Math.fround(-Math.log(10_000) / (half - 1))
  const table = new Float32Array(length * channels)
  for (let i = 0; i < half; i++) {
    const frequency = exp32(Math.fround(step * i))
    for (let position = 0; position < length; position++) {
      const angle = Math.fround(position * frequency)
      table[position * channels + i] = Math.sin(angle)
      table[position * channels + half + i] = Math.cos(angle)
    }
  }
  return table
}

/** Polynomial coefficients of the exponential, highest order first, as 32-bit floats. */
const expCoefficients = [
  1.98527617613e-4, 1.39304355253e-3, 8.33336077631e-3, 4.16664853692e-2, 1.6666667163e-1, 0.5,
].map(Math.fround)
const log2e = Math.fround(Math.LOG2E)
/** ln 2 as a sum of two parts; multiples of the first one are exact. */
const ln2 = {high: Math.fround(0.693145751953125), low: Math.fround(1.428606765330187e-6)}

/**
 * e^x in 32-bit arithmetic with fused multiply-add: range reduction by multiples of ln 2, then a polynomial. Method and
 * constants are those of SLEEF's `expf` (Shibata and Petrogalli, IEEE TPDS 2020), which PyTorch uses.
 */
function exp32(x: number): number {
  const fused = (a: number, b: number, c: number) => Math.fround(a * b + c)
  const power = Math.round(Math.fround(x * log2e))
  const rest = fused(power, -ln2.low, fused(power, -ln2.high, x))
  const series = expCoefficients.reduce((sum, coefficient) => fused(sum, rest, coefficient))
  return Math.fround(1 + fused(Math.fround(rest * rest), series, rest)) * 2 ** power
}
