/** Default number of weights that share a scale in `MatMulNBits`. */
export const quantizedBlock = 32

export interface QuantizedColumns {
  /** int8 `[in, out]`. */
  values: Int8Array
  /** `[out]`. */
  scales: Float32Array
}

/** Rows that are transposed together, so that each cache line of the result is written once. */
const tileRows = 16

/**
 * Symmetric 8-bit quantisation with one scale per output, for ONNX Runtime's `DynamicQuantizeMatMul` and
 * `MatMulIntegerToFloat`.
 * @param weight `[rows, in]`, the rows of a matrix `[out, in]` from `first` on
 * @param most largest quantised value; less than 127 for processors whose products of 8 bits saturate
 * @param result of the whole matrix; receives the columns and scales of the rows
 */
export function quantizeColumns(
  weight: Float32Array,
  input: number,
  first: number,
  max: number,
  {values, scales}: QuantizedColumns,
): void {
  const out = scales.length
  const rows = weight.length / input
  const inverses = new Float64Array(tileRows)
  for (let tile = 0; tile < rows; tile += tileRows) {
    const count = Math.min(tileRows, rows - tile)
    for (let row = 0; row < count; row++) {
      const from = (tile + row) * input
      const scale = largest(weight, from, from + input) / max
      scales[first + tile + row] = scale
      inverses[row] = inverseOf(scale)
    }
    for (let i = 0; i < input; i++) {
      const to = i * out + first + tile
      let from = tile * input + i
      for (let row = 0; row < count; row++) {
        values[to + row] = rounded(weight[from]! * inverses[row]!, 128) - 128
        from += input
      }
    }
  }
}

/**
 * Two norms per row, which bound the error of a product with it: that of the difference of a row and its quantised copy,
 * and that of the copy.
 * @param weight `[rows, in]`
 * @param most as for `quantizeColumns`
 * @returns `[rows, 2]`
 */
export function columnBounds(weight: Float32Array, input: number, max: number): Float32Array {
  const bounds = new Float32Array((2 * weight.length) / input)
  for (let row = 0; row < bounds.length / 2; row++) {
    const [from, to] = [row * input, (row + 1) * input]
    const scale = largest(weight, from, to) / max
    const inverse = inverseOf(scale)
    const stored = Math.fround(scale)
    let [error, norm] = [0, 0]
    for (let i = from; i < to; i++) {
      const copy = (rounded(weight[i]! * inverse, 128) - 128) * stored
      error += (weight[i]! - copy) ** 2
      norm += copy * copy
    }
    bounds[2 * row] = Math.sqrt(error)
    bounds[2 * row + 1] = Math.sqrt(norm)
  }
  return bounds
}

export interface QuantizedBlocks {
  /** uint8 `[rows, ceil(in / block), block]`; 128 is 0. */
  values: Uint8Array
  /** `[rows * ceil(in / block)]`. */
  scales: Float32Array
}

/**
 * 8-bit quantisation with one scale per block of inputs, for ONNX Runtime's `MatMulNBits`. The last block is padded.
 * @param weight `[rows, in]`
 */
export function quantizeBlocks(weight: Float32Array, input: number, size = quantizedBlock): QuantizedBlocks {
  const count = (weight.length / input) * Math.ceil(input / size)
  const values = new Uint8Array(count * size).fill(128)
  const scales = new Float32Array(count)
  forEachBlock(weight, input, size, (block, from, to) => {
    const scale = largest(weight, from, to) / 127
    scales[block] = scale
    const inverse = inverseOf(scale)
    const shift = block * size - from
    for (let i = from; i < to; i++) values[shift + i] = rounded(weight[i]! * inverse, 128)
  })
  return {values, scales}
}

/** The norms of `columnBounds` for blocks. */
export function blockBounds(
  weight: Float32Array,
  input: number,
  size: number,
  {values, scales}: QuantizedBlocks,
): Float32Array {
  const bounds = new Float32Array((2 * weight.length) / input)
  forEachBlock(weight, input, size, (block, from, to) => {
    const scale = scales[block]!
    const shift = block * size - from
    const row = 2 * Math.floor(from / input)
    let [error, norm] = [0, 0]
    for (let i = from; i < to; i++) {
      const copy = (values[shift + i]! - 128) * scale
      error += (weight[i]! - copy) ** 2
      norm += copy * copy
    }
    bounds[row]! += error
    bounds[row + 1]! += norm
  })
  return bounds.map(Math.sqrt)
}

/**
 * 4-bit quantisation with one scale per block of inputs, for ONNX Runtime's `MatMulNBits`. The value with the largest
 * magnitude of a block becomes -8, as in the format q4_0 of llama.cpp. The last block is padded.
 * @param weight `[rows, in]`
 * @returns values uint8 `[rows, ceil(in / size), size / 2]`, two per byte, the first in the lower half; 8 is 0
 */
export function quantizeNibbles(weight: Float32Array, input: number, size = quantizedBlock): QuantizedBlocks {
  const count = (weight.length / input) * Math.ceil(input / size)
  const values = new Uint8Array((count * size) / 2).fill(0x88)
  const scales = new Float32Array(count)
  forEachBlock(weight, input, size, (block, from, to) => {
    const scale = extreme(weight, from, to) / -8
    scales[block] = scale
    const inverse = inverseOf(scale)
    let at = (block * size) / 2
    for (let i = from; i < to; i += 2) {
      const low = Math.min(15, rounded(weight[i]! * inverse, 8))
      const high = i + 1 < to ? Math.min(15, rounded(weight[i + 1]! * inverse, 8)) : 8
      values[at++] = low | (high << 4)
    }
  })
  return {values, scales}
}

/** Calls a function with the number of each block, the index of its first weight and that after its last one. */
function forEachBlock(
  {length}: Float32Array,
  input: number,
  size: number,
  visit: (block: number, from: number, to: number) => void,
): void {
  let block = 0
  for (let row = 0; row < length; row += input)
    for (let from = row; from < row + input; from += size) visit(block++, from, Math.min(row + input, from + size))
}

/** Rounds `value + zero`, which is at least -0.5, to the nearest integer. Faster than `Math.round`. */
const rounded = (value: number, zero: number): number => (value + (zero + 0.5)) | 0

/** A block of zeros has the scale 0. */
const inverseOf = (scale: number): number => (scale === 0 ? 0 : 1 / scale)

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
