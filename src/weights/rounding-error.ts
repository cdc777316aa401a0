import {quantizeColumns, quantizeNibbles} from './quantize.js'
import {readTensorBytes, type TensorEntry} from './safetensors.js'
import {orderedRows} from './stored-order.js'
import {refuseOtherThanWeights, weightBytes, widenRows} from './weight-rows.js'

/** Rows of a sample. */
const sampleRows = 64

/** To integers of 8 bits with one scale per row, as `quantizeColumns`, or of 4 bits with one per block. */
export type Rounding = {kind: 'columns'; max: number} | {kind: 'nibbles'; size: number}

/**
 * The error of rounding a matrix `[out, in]`, from a sample of its rows: the root of the mean square of the differences, relative
 * to that of the weights.
 * @throws tensor_dtype, safetensors_invalid
 */
export async function roundingError(entry: TensorEntry, rounding: Rounding): Promise<number> {
  refuseOtherThanWeights(entry)
  const {shape, dtype, order} = entry
  const [out = 0, input = 0] = shape
  const rows = Math.min(out, orderedRows(order) * Math.ceil(sampleRows / orderedRows(order)))
  const weight = new Float32Array(rows * input)
  const length = weightBytes(dtype, weight.length)
  for await (const bytes of readTensorBytes({...entry, length}, length)) widenRows(bytes, entry, input, weight)
  const roundedAt =
    rounding.kind === 'columns' ? columns(weight, rows, rounding.max) : nibbles(weight, input, rounding.size)
  let [error, total] = [0, 0]
  for (const [i, value] of weight.entries()) {
    error += (value - roundedAt(i)) ** 2
    total += value * value
  }
  return total === 0 ? 0 : Math.sqrt(error / total)
}

function columns(weight: Float32Array, rows: number, max: number): (index: number) => number {
  const input = weight.length / rows
  const {values, scales} = {values: new Int8Array(weight.length), scales: new Float32Array(rows)}
  quantizeColumns(weight, input, 0, max, {values, scales})
  return (i) => values[(i % input) * rows + Math.floor(i / input)]! * scales[Math.floor(i / input)]!
}

function nibbles(weight: Float32Array, input: number, size: number): (index: number) => number {
  const {values, scales} = quantizeNibbles(weight, input, size)
  const blocks = Math.ceil(input / size)
  return (i) => {
    const [row, column] = [Math.floor(i / input), i % input]
    const block = row * blocks + Math.floor(column / size)
    const at = block * size + (column % size)
    return (((values[at >> 1]! >> (4 * (at & 1))) & 15) - 8) * scales[block]!
  }
}
