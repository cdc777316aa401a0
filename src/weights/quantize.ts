/** Default number of weights that share a scale in `MatMulNBits`. */
export const quantizedBlock = 32

export interface QuantizedColumns {
  /** int8 `[in, out]`. */
  values: Int8Array
  /** `[out]`. */
  scales: Float32Array
}

/**
 * Symmetric 8-bit quantisation with one scale per output, for ONNX Runtime's `DynamicQuantizeMatMul` and
 * `MatMulIntegerToFloat`.
 * @param weight `[out, in]`
 * @param most largest quantised value; less than 127 for processors whose products of 8 bits saturate
 */
export function quantizeColumns(weight: Float32Array, out: number, input: number, most = 127): QuantizedColumns {
  const values = new Int8Array(weight.length)
  const scales = new Float32Array(out)
  for (let row = 0; row < out; row++) {
    const scale = largest(weight, row * input, (row + 1) * input) / most
    scales[row] = scale
    const inverse = scale === 0 ? 0 : 1 / scale
    for (let i = 0; i < input; i++) values[i * out + row] = Math.round(weight[row * input + i]! * inverse)
  }
  return {values, scales}
}

export interface QuantizedBlocks {
  /** uint8 `[out, ceil(in / block), block]`; 128 is 0. */
  values: Uint8Array
  /** `[out * ceil(in / block)]`. */
  scales: Float32Array
}

/**
 * 8-bit quantisation with one scale per block of inputs, for ONNX Runtime's `MatMulNBits`. The last block is padded.
 * @param weight `[out, in]`
 */
export function quantizeBlocks(
  weight: Float32Array,
  out: number,
  input: number,
  size = quantizedBlock,
): QuantizedBlocks {
  const blocks = Math.ceil(input / size)
  const values = new Uint8Array(out * blocks * size).fill(128)
  const scales = new Float32Array(out * blocks)
  for (let block = 0; block < scales.length; block++) {
    const {from, count} = inputsOf(block, input, size)
    const scale = largest(weight, from, from + count) / 127
    scales[block] = scale
    const inverse = scale === 0 ? 0 : 1 / scale
    const to = block * size
    for (let i = 0; i < count; i++) values[to + i] = Math.round(weight[from + i]! * inverse) + 128
  }
  return {values, scales}
}

/**
 * 4-bit quantisation with one scale per block of inputs, for ONNX Runtime's `MatMulNBits`. The value with the largest
 * magnitude of a block becomes -8, as in the format q4_0 of llama.cpp. The last block is padded.
 * @param weight `[out, in]`
 * @returns values uint8 `[out, ceil(in / size), size / 2]`, two per byte, the first in the lower half; 8 is 0
 */
export function quantizeNibbles(
  weight: Float32Array,
  out: number,
  input: number,
  size = quantizedBlock,
): QuantizedBlocks {
  const blocks = Math.ceil(input / size)
  const values = new Uint8Array((out * blocks * size) / 2).fill(0x88)
  const scales = new Float32Array(out * blocks)
  for (let block = 0; block < scales.length; block++) {
    const {from, count} = inputsOf(block, input, size)
    const scale = extreme(weight, from, from + count) / -8
    scales[block] = scale
    const inverse = scale === 0 ? 0 : 1 / scale
    const nibble = (i: number) => (i < count ? Math.min(15, Math.round(weight[from + i]! * inverse) + 8) : 8)
    for (let i = 0; i < count; i += 2) values[(block * size + i) >> 1] = nibble(i) | (nibble(i + 1) << 4)
  }
  return {values, scales}
}

/** Weights of a block: index of the first one, and their number, which is smaller in the last block of an output. */
function inputsOf(block: number, input: number, size: number): {from: number; count: number} {
  const blocks = Math.ceil(input / size)
  const first = (block % blocks) * size
  return {from: Math.floor(block / blocks) * input + first, count: Math.min(size, input - first)}
}

/** The value with the largest magnitude. */
function extreme(values: Float32Array, from: number, to: number): number {
  let found = 0
  for (let i = from; i < to; i++) if (Math.abs(values[i]!) > Math.abs(found)) found = values[i]!
  return found
}

function largest(values: Float32Array, from: number, to: number): number {
  let max = 0
  for (let i = from; i < to; i++) {
    const size = Math.abs(values[i]!)
    if (size > max) max = size
  }
  return max
}
