import {floatToHalf, halfToFloat} from '../../weights/index.js'

/** ggml tensor types. Quantised types have blocks of 32 values. */
export type GgmlType = 'f32' | 'f16' | 'q4_0' | 'q4_1' | 'q5_0' | 'q5_1' | 'q8_0'

/** Types by their number in the file. */
export const ggmlTypes: Readonly<Record<number, GgmlType>> = {
  0: 'f32',
  1: 'f16',
  2: 'q4_0',
  3: 'q4_1',
  6: 'q5_0',
  7: 'q5_1',
  8: 'q8_0',
}

const blockValues = 32

/** Bytes per block, or per value of types without blocks. */
const blockBytes: Readonly<Record<GgmlType, number>> = {
  f32: 4,
  f16: 2,
  q4_0: 18,
  q4_1: 20,
  q5_0: 22,
  q5_1: 24,
  q8_0: 34,
}

const isPlain = (type: GgmlType): type is 'f32' | 'f16' => type === 'f32' || type === 'f16'

/** Size of a tensor in bytes; undefined if its rows are not complete blocks. */
export function ggmlBytes(type: GgmlType, shape: readonly number[]): number | undefined {
  const values = shape.reduce((product, dim) => product * dim, 1)
  if (isPlain(type)) return values * blockBytes[type]
  return (shape.at(-1) ?? 0) % blockValues === 0 ? (values / blockValues) * blockBytes[type] : undefined
}

/** Decodes the 32 values of a block. */
type BlockReader = (block: DataView, at: number, out: Float32Array) => void

/** Nibble i is the low half of byte i for the first 16 values, and the high half of byte i - 16 for the others. */
const nibble = (block: DataView, at: number, i: number) =>
  i < 16 ? block.getUint8(at + i) & 15 : block.getUint8(at + i - 16) >> 4

const fifthBit = (block: DataView, at: number, i: number) => ((block.getUint32(at, true) >>> i) & 1) << 4

const readers: Readonly<Record<Exclude<GgmlType, 'f32' | 'f16'>, BlockReader>> = {
  q4_0: (block, at, out) => {
    const scale = readHalf(block, at)
    for (let i = 0; i < blockValues; i++) out[i] = scale * (nibble(block, at + 2, i) - 8)
  },
  q4_1: (block, at, out) => {
    const [scale, least] = [readHalf(block, at), readHalf(block, at + 2)]
    for (let i = 0; i < blockValues; i++) out[i] = scale * nibble(block, at + 4, i) + least
  },
  q5_0: (block, at, out) => {
    const scale = readHalf(block, at)
    for (let i = 0; i < blockValues; i++)
      out[i] = scale * ((nibble(block, at + 6, i) | fifthBit(block, at + 2, i)) - 16)
  },
  q5_1: (block, at, out) => {
    const [scale, least] = [readHalf(block, at), readHalf(block, at + 2)]
    for (let i = 0; i < blockValues; i++)
      out[i] = scale * (nibble(block, at + 8, i) | fifthBit(block, at + 4, i)) + least
  },
  q8_0: (block, at, out) => {
    const scale = readHalf(block, at)
    for (let i = 0; i < blockValues; i++) out[i] = scale * block.getInt8(at + 2 + i)
  },
}

/**
 * Converts the bytes of a tensor to a safetensors dtype: 32-bit and 16-bit floats are unchanged, quantised values become
 * 16-bit floats.
 */
export function asFloats(type: GgmlType, bytes: Buffer): {dtype: 'F32' | 'F16'; data: Uint8Array} {
  if (isPlain(type)) return {dtype: type === 'f32' ? 'F32' : 'F16', data: bytes}
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const size = blockBytes[type]
  const blocks = bytes.length / size
  const values = new Float32Array(blockValues)
  const halves = new Uint16Array(blocks * blockValues)
  const read = readers[type]
  for (let block = 0; block < blocks; block++) {
    read(view, block * size, values)
    // A loop, because `from` would first create an array many times this size.
    for (let i = 0; i < blockValues; i++) halves[block * blockValues + i] = floatToHalf(values[i]!)
  }
  return {dtype: 'F16', data: new Uint8Array(halves.buffer)}
}

const readHalf = (view: DataView, at: number): number => halfToFloat(view.getUint16(at, true))
