import type {FloatDtype} from './dtype.js'

const float = new Float32Array(1)
const word = new Uint32Array(float.buffer)

/** The bits of the nearest binary16, ties to even; overflow returns infinity. */
export function floatToHalf(value: number): number {
  float[0] = value
  const bits = word[0]!
  const sign = (bits >>> 16) & 0x8000
  const exponent = ((bits >>> 23) & 255) - 112
  const fraction = bits & 0x7f_ffff
  if (exponent >= 31) return sign | (exponent === 143 && fraction !== 0 ? 0x7e00 : 0x7c00)
  if (exponent < -10) return sign
  // In a subnormal, the leading bit that is implicit in a normal number is stored.
  const whole = exponent > 0 ? (exponent << 23) | fraction : fraction | 0x80_0000
  const shift = exponent > 0 ? 13 : 14 - exponent
  const half = whole >>> shift
  const rest = whole & ((1 << shift) - 1)
  const tie = 1 << (shift - 1)
  const up = rest > tie || (rest === tie && (half & 1) === 1)
  return sign | (half + (up ? 1 : 0))
}

/**
 * Converts floats to the little-endian bytes of a dtype, rounded to nearest, ties to even.
 * @param memory buffer for 16-bit results, at least as long as `values`
 * @returns a view of `values` or `memory`; undefined if a finite value overflows binary16
 */
export function narrowFloats(values: Float32Array, dtype: FloatDtype, memory: Uint16Array): Uint8Array | undefined {
  if (dtype === 'F32') return new Uint8Array(values.buffer, values.byteOffset, values.byteLength)
  const halves = memory.subarray(0, values.length)
  if (dtype === 'BF16') narrowToBf16(values, halves)
  else if (!narrowToF16(values, halves)) return undefined
  return new Uint8Array(halves.buffer, halves.byteOffset, halves.byteLength)
}

function narrowToBf16(values: Float32Array, halves: Uint16Array): void {
  const words = new Uint32Array(values.buffer, values.byteOffset, values.length)
  for (let i = 0; i < words.length; i++) {
    const bits = words[i]!
    // Rounding would turn a NaN with its payload in the lower half into infinity.
    halves[i] = Number.isNaN(values[i]) ? (bits >>> 16) | 0x40 : (bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16
  }
}

function narrowToF16(values: Float32Array, halves: Uint16Array): boolean {
  for (let i = 0; i < values.length; i++) {
    const half = floatToHalf(values[i]!)
    if ((half & 0x7fff) === 0x7c00 && Number.isFinite(values[i])) return false
    halves[i] = half
  }
  return true
}

/** Weights of a block of the type Q8_0, and its bytes: a scale as binary16, and integers. */
const [blockWeights, blockBytes] = [32, 34]

/**
 * Rounds floats to blocks of the type Q8_0 of ggml, with the largest value at 127.
 * @param values complete blocks
 * @returns undefined if a scale overflows binary16
 */
export function narrowToBlocks(values: Float32Array): Uint8Array | undefined {
  const blocks = Buffer.alloc((values.length / blockWeights) * blockBytes)
  for (let from = 0, at = 0; from < values.length; from += blockWeights, at += blockBytes) {
    let max = 0
    for (let i = 0; i < blockWeights; i++) max = Math.max(max, Math.abs(values[from + i]!))
    const half = floatToHalf(max / 127)
    if ((half & 0x7c00) === 0x7c00) return undefined
    blocks.writeUInt16LE(half, at)
    const inverse = max === 0 ? 0 : 127 / max
    for (let i = 0; i < blockWeights; i++) blocks.writeInt8(Math.round(values[from + i]! * inverse), at + 2 + i)
  }
  return blocks
}
