import {quantizeColumns} from './quantize.js'
import {readTensorBytes, type TensorEntry} from './safetensors.js'
import {refuseOtherThanWeights, weightBytes, widenRows} from './weight-rows.js'

/** Rows of a sample. */
const sampleRows = 64

/**
 * The error of rounding a matrix `[out, in]` with `quantizeColumns`, from a sample of its rows: the root of the mean square
 * of the differences, relative to that of the weights.
 * @param most as for `quantizeColumns`
 * @throws tensor_dtype, safetensors_invalid
 */
export async function roundingError(entry: TensorEntry, most: number): Promise<number> {
  refuseOtherThanWeights(entry)
  const {shape, dtype, headRows = 1} = entry
  const [out = 0, input = 0] = shape
  const rows = Math.min(out, headRows * Math.ceil(sampleRows / headRows))
  const weight = new Float32Array(rows * input)
  const length = weightBytes(dtype, weight.length)
  for await (const bytes of readTensorBytes({...entry, length}, length)) widenRows(bytes, entry, input, weight)
  const {values, scales} = {values: new Int8Array(weight.length), scales: new Float32Array(rows)}
  quantizeColumns(weight, input, 0, most, {values, scales})
  let [error, total] = [0, 0]
  for (const [i, value] of weight.entries()) {
    const row = Math.floor(i / input)
    error += (value - values[(i % input) * rows + row]! * scales[row]!) ** 2
    total += value * value
  }
  return total === 0 ? 0 : Math.sqrt(error / total)
}
