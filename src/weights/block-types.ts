import {halfToFloat} from './widen.js'

/**
 * A type of tensor in GGUF files whose weights are integers in blocks with common factors. A weight is
 * `scale * (value - 128) + offset`, with the scale and the offset of its group.
 * Source: the structures in `ggml-common.h` and the functions `dequantize_row_*` of ggml.
 */
export interface BlockType {
  /** Weights of a block. */
  weights: number
  /** Bytes of a block. */
  bytes: number
  /** Weights of a group with a common scale: a divisor of `weights`. */
  group: 16 | 32
  /** Whether the groups have offsets. */
  hasOffsets: boolean
  /** For integers of 4 bits: the one that 128 stands for. */
  nibbleZero?: 0 | 8
  /** Unpacks the block from a position of the bytes on, to positions of values and groups. */
  unpack: Unpack
}

type Unpack = (bytes: Uint8Array, from: number, groups: Groups, value: number, group: number) => void

/** The parts of blocks. */
export interface Groups {
  values: Uint8Array
  /** One for each group of values. */
  scales: Float32Array
  /** As the scales; 0 for types without offsets. */
  offsets: Float32Array
}

const half = (bytes: Uint8Array, at: number): number => halfToFloat(bytes[at]! | (bytes[at + 1]! << 8))

/** The lower and the upper halves of 16 bytes are the first and the second half of 32 values. */
function unpackNibbles(bytes: Uint8Array, from: number, values: Uint8Array, to: number, zero: number): void {
  for (let i = 0; i < 16; i++) {
    const byte = bytes[from + i]!
    values[to + i] = (byte & 15) + zero
    values[to + 16 + i] = (byte >> 4) + zero
  }
}

function unpackTable(bytes: Uint8Array, from: number, values: Uint8Array, to: number, table: readonly number[]): void {
  for (let i = 0; i < 16; i++) {
    const byte = bytes[from + i]!
    values[to + i] = table[byte & 15]!
    values[to + 16 + i] = table[byte >> 4]!
  }
}

/** The fifth bits of 32 values. */
function addFifthBits(bytes: Uint8Array, from: number, values: Uint8Array, to: number): void {
  for (let i = 0; i < 32; i++) values[to + i]! += ((bytes[from + (i >> 3)]! >> (i & 7)) & 1) << 4
}

/** Scales and minima of 6 bits: 8 of each in 12 bytes, after the factors of both. */
function unpackSixBits(bytes: Uint8Array, from: number, {scales, offsets}: Groups, group: number): void {
  const [scale, min] = [half(bytes, from), half(bytes, from + 2)]
  const byte = (at: number) => bytes[from + 4 + at]!
  for (let i = 0; i < 8; i++) {
    const factor = i < 4 ? byte(i) & 63 : (byte(i + 4) & 15) | ((byte(i - 4) >> 6) << 4)
    const least = i < 4 ? byte(i + 4) & 63 : (byte(i + 4) >> 4) | ((byte(i) >> 6) << 4)
    scales[group + i] = scale * factor
    offsets[group + i] = -min * least
  }
}

/** The values of the types IQ4_NL and IQ4_XS, with 128 for 0. */
const uneven = [1, 24, 45, 63, 79, 93, 106, 118, 129, 141, 153, 166, 181, 197, 217, 241]

/** Twice the values of floats of 4 bits, E2M1, with 128 for 0. Source: OCP Microscaling Formats. */
const smallFloats = [128, 129, 130, 131, 132, 134, 136, 140, 128, 127, 126, 125, 124, 122, 120, 116]

/** Types with blocks of 32 weights. */
const small = (bytes: number, unpack: Unpack, others: Partial<BlockType> = {}): BlockType => ({
  weights: 32,
  bytes,
  group: 32,
  hasOffsets: false,
  unpack,
  ...others,
})

/** Types with blocks of 256 weights. */
const large = (bytes: number, group: 16 | 32, hasOffsets: boolean, unpack: Unpack): BlockType => ({
  weights: 256,
  bytes,
  group,
  hasOffsets,
  unpack,
})

const q4 = small(18, (bytes, from, {values, scales}, value, group) => {
  scales[group] = half(bytes, from)
  unpackNibbles(bytes, from + 2, values, value, 120)
})

const q4WithOffset = small(20, (bytes, from, {values, scales, offsets}, value, group) => {
  scales[group] = half(bytes, from)
  offsets[group] = half(bytes, from + 2)
  unpackNibbles(bytes, from + 4, values, value, 128)
})

const q5 = small(22, (bytes, from, {values, scales}, value, group) => {
  scales[group] = half(bytes, from)
  unpackNibbles(bytes, from + 6, values, value, 112)
  addFifthBits(bytes, from + 2, values, value)
})

const q5WithOffset = small(24, (bytes, from, {values, scales, offsets}, value, group) => {
  scales[group] = half(bytes, from)
  offsets[group] = half(bytes, from + 2)
  unpackNibbles(bytes, from + 8, values, value, 128)
  addFifthBits(bytes, from + 4, values, value)
})

const q8 = small(34, (bytes, from, {values, scales}, value, group) => {
  scales[group] = half(bytes, from)
  for (let i = 0; i < 32; i++) values[value + i] = bytes[from + 2 + i]! ^ 128
})

const q2k = large(84, 16, true, (bytes, from, {values, scales, offsets}, value, group) => {
  const [scale, min] = [half(bytes, from + 80), half(bytes, from + 82)]
  for (let i = 0; i < 16; i++) {
    scales[group + i] = scale * (bytes[from + i]! & 15)
    offsets[group + i] = -min * (bytes[from + i]! >> 4)
  }
  for (let i = 0; i < 256; i++)
    values[value + i] = 128 + ((bytes[from + 16 + 32 * (i >> 7) + (i & 31)]! >> (2 * ((i >> 5) & 3))) & 3)
})

const q3k = large(110, 16, false, (bytes, from, {values, scales}, value, group) => {
  const scale = half(bytes, from + 108)
  for (let i = 0; i < 16; i++) {
    const low = i < 8 ? bytes[from + 96 + i]! & 15 : bytes[from + 88 + i]! >> 4
    const high = (bytes[from + 104 + (i & 3)]! >> (2 * (i >> 2))) & 3
    scales[group + i] = scale * ((low | (high << 4)) - 32)
  }
  for (let i = 0; i < 256; i++) {
    const low = (bytes[from + 32 + 32 * (i >> 7) + (i & 31)]! >> (2 * ((i >> 5) & 3))) & 3
    values[value + i] = 124 + low + (((bytes[from + (i & 31)]! >> (i >> 5)) & 1) << 2)
  }
})

const q4k = large(144, 32, true, (bytes, from, groups, value, group) => {
  unpackSixBits(bytes, from, groups, group)
  const {values} = groups
  for (let part = 0; part < 4; part++) {
    const [source, target] = [from + 16 + 32 * part, value + 64 * part]
    for (let i = 0; i < 32; i++) {
      const byte = bytes[source + i]!
      values[target + i] = 128 + (byte & 15)
      values[target + 32 + i] = 128 + (byte >> 4)
    }
  }
})

const q5k = large(176, 32, true, (bytes, from, groups, value, group) => {
  unpackSixBits(bytes, from, groups, group)
  for (let i = 0; i < 256; i++) {
    const low = (bytes[from + 48 + 32 * (i >> 6) + (i & 31)]! >> (4 * ((i >> 5) & 1))) & 15
    groups.values[value + i] = 128 + low + (((bytes[from + 16 + (i & 31)]! >> (i >> 5)) & 1) << 4)
  }
})

const q6k = large(210, 16, false, (bytes, from, {values, scales}, value, group) => {
  const scale = half(bytes, from + 208)
  for (let i = 0; i < 16; i++) scales[group + i] = scale * ((bytes[from + 192 + i]! << 24) >> 24)
  for (let part = 0; part < 2; part++) {
    const [low, high, target] = [from + 64 * part, from + 128 + 32 * part, value + 128 * part]
    for (let i = 0; i < 32; i++) {
      const [first, second, top] = [bytes[low + i]!, bytes[low + 32 + i]!, bytes[high + i]!]
      values[target + i] = 96 + ((first & 15) | ((top & 3) << 4))
      values[target + 32 + i] = 96 + ((second & 15) | ((top & 12) << 2))
      values[target + 64 + i] = 96 + ((first >> 4) | (top & 48))
      values[target + 96 + i] = 96 + ((second >> 4) | ((top & 192) >> 2))
    }
  }
})

const iq4nl = small(18, (bytes, from, {values, scales}, value, group) => {
  scales[group] = half(bytes, from)
  unpackTable(bytes, from + 2, values, value, uneven)
})

const iq4xs = large(136, 32, false, (bytes, from, {values, scales}, value, group) => {
  const scale = half(bytes, from)
  const high = bytes[from + 2]! | (bytes[from + 3]! << 8)
  for (let i = 0; i < 8; i++) {
    const low = (bytes[from + 4 + (i >> 1)]! >> (4 * (i & 1))) & 15
    scales[group + i] = scale * ((low | (((high >> (2 * i)) & 3) << 4)) - 32)
    unpackTable(bytes, from + 8 + 16 * i, values, value + 32 * i, uneven)
  }
})

const mxfp4 = small(17, (bytes, from, {values, scales}, value, group) => {
  // An exponent of 2 with the bias 127; the values of the table are doubled.
  scales[group] = 2 ** (bytes[from]! - 128)
  unpackTable(bytes, from + 1, values, value, smallFloats)
})

/** The types by their names in ggml. */
const blockTypes = {
  Q4_0: {...q4, nibbleZero: 8},
  Q4_1: {...q4WithOffset, hasOffsets: true, nibbleZero: 0},
  Q5_0: q5,
  Q5_1: {...q5WithOffset, hasOffsets: true},
  Q8_0: q8,
  Q2_K: q2k,
  Q3_K: q3k,
  Q4_K: {...q4k, nibbleZero: 0},
  Q5_K: q5k,
  Q6_K: q6k,
  IQ4_NL: iq4nl,
  IQ4_XS: iq4xs,
  MXFP4: mxfp4,
} as const satisfies Readonly<Record<string, BlockType>>

export type BlockDtype = keyof typeof blockTypes

export const blockDtypes = Object.keys(blockTypes) as readonly BlockDtype[]

export const isBlockDtype = (dtype: string): dtype is BlockDtype => Object.hasOwn(blockTypes, dtype)

export const blockTypeOf = (dtype: BlockDtype): BlockType => blockTypes[dtype]

/** The parts of complete blocks. */
export function unpackBlocks(bytes: Uint8Array, dtype: BlockDtype): Groups {
  const {weights, bytes: size, group, unpack} = blockTypeOf(dtype)
  const count = bytes.length / size
  const perBlock = weights / group
  const groups: Groups = {
    values: new Uint8Array(count * weights),
    scales: new Float32Array(count * perBlock),
    offsets: new Float32Array(count * perBlock),
  }
  for (let i = 0; i < count; i++) unpack(bytes, i * size, groups, i * weights, i * perBlock)
  return groups
}

/** Fills `target` with the weights of blocks. */
export function widenBlocks(bytes: Uint8Array, dtype: BlockDtype, target: Float32Array): void {
  const {group} = blockTypeOf(dtype)
  const {values, scales, offsets} = unpackBlocks(bytes, dtype)
  for (let at = 0, i = 0; i < target.length; at++) {
    const [scale, offset] = [scales[at]!, offsets[at]!]
    for (const end = i + group; i < end; i++) target[i] = (values[i]! - 128) * scale + offset
  }
}
