import {endianness} from 'node:os'
import type {FloatDtype} from './dtype.js'

/** Widens little-endian floats to 32 bits: fills `target` from `bytes`, which need not be aligned. */
export function widenFloats(bytes: Uint8Array, dtype: FloatDtype, target: Float32Array): void {
  if (dtype === 'F32') copyFloats(bytes, target)
  else if (dtype === 'BF16') widenBf16(aligned(bytes, target.length), target)
  else widenF16(aligned(bytes, target.length), target)
}

/** bfloat16 is the upper half of a 32-bit float. */
function widenBf16(halves: Uint16Array, target: Float32Array): void {
  const words = new Uint32Array(target.buffer, target.byteOffset, target.length)
  for (let i = 0; i < words.length; i++) words[i] = halves[i]! << 16
}

function widenF16(halves: Uint16Array, target: Float32Array): void {
  const table = halfTable()
  for (let i = 0; i < target.length; i++) target[i] = table[halves[i]!]!
}

const littleEndian = endianness() === 'LE'

function copyFloats(bytes: Uint8Array, target: Float32Array): void {
  if (littleEndian) {
    new Uint8Array(target.buffer, target.byteOffset, target.byteLength).set(bytes)
    return
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (let i = 0; i < target.length; i++) target[i] = view.getFloat32(4 * i, true)
}

/** The bytes as 16-bit words; copied if they are not aligned. */
function aligned(bytes: Uint8Array, length: number): Uint16Array {
  if (!littleEndian) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    return Uint16Array.from({length}, (_, i) => view.getUint16(2 * i, true))
  }
  const even = bytes.byteOffset % 2 === 0 ? bytes : bytes.slice()
  return new Uint16Array(even.buffer, even.byteOffset, length)
}

/** The value of a binary16, from its bits. */
export const halfToFloat = (bits: number): number => halfTable()[bits]!

let valuesOfHalves: Float32Array | undefined

/** The value of every binary16 by its bits; a lookup is several times faster than computing it. */
function halfTable(): Float32Array {
  valuesOfHalves ??= Float32Array.from({length: 1 << 16}, (_, bits) => valueOfHalf(bits))
  return valuesOfHalves
}

/** IEEE 754 binary16: 1 sign, 5 exponent (bias 15) and 10 fraction bits. */
function valueOfHalf(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1
  const exponent = (bits >> 10) & 0x1f
  const fraction = bits & 0x3ff
  if (exponent === 0) return sign * fraction * 2 ** -24
  if (exponent === 0x1f) return fraction === 0 ? sign * Infinity : Number.NaN
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15)
}
