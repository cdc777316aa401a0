import {SvcError} from '../errors/index.js'
import {type BlockDtype, blockDtypes, blockTypeOf, isBlockDtype, widenBlocks} from './block-types.js'
import {dtypeBytes, type FloatDtype, isWidened, widened} from './dtype.js'
import {readTensorBytes, type TensorEntry} from './safetensors.js'
import {reorder} from './stored-order.js'
import {widenFloats} from './widen.js'

/** The types of weights that convert to 32-bit floats: floats, and blocks of integers in GGUF files. */
export type WeightDtype = FloatDtype | BlockDtype

/** A tensor whose values convert to 32-bit floats. */
export type WeightEntry = TensorEntry & {readonly dtype: WeightDtype}

/** A tensor whose values convert to 32-bit floats without loss, element by element. */
export type FloatEntry = TensorEntry & {readonly dtype: FloatDtype}

/** @throws tensor_dtype */
export function refuseOtherThanWeights(entry: TensorEntry): asserts entry is WeightEntry {
  const {name, file, dtype} = entry
  if (!isWidened(dtype) && !isBlockDtype(dtype))
    throw new SvcError('tensor_dtype', {tensor: name, file, dtype, accepted: [...widened, ...blockDtypes]})
}

/** @throws tensor_dtype if the dtype does not convert to 32-bit floats without loss */
export function refuseOtherThanFloats(entry: TensorEntry): asserts entry is FloatEntry {
  const {name, file, dtype} = entry
  if (!isWidened(dtype)) throw new SvcError('tensor_dtype', {tensor: name, file, dtype, accepted: widened})
}

/** Size of weights, bytes. Blocks are complete. */
export function weightBytes(dtype: WeightDtype, count: number): number {
  if (isWidened(dtype)) return count * dtypeBytes(dtype)
  const {weights, bytes} = blockTypeOf(dtype)
  return (count / weights) * bytes
}

/**
 * Fills `target` with complete rows of a matrix, in the order of transformers.
 * @param bytes the rows, from the first one of a run on
 * @param columns elements of a row
 */
export function widenRows(
  bytes: Uint8Array,
  {dtype, order, surplus, isNegativeExp}: Pick<WeightEntry, 'dtype' | keyof RowLayout>,
  columns: number,
  target: Float32Array,
): void {
  if (isWidened(dtype)) widenFloats(bytes, dtype, target)
  else widenBlocks(bytes, dtype, target)
  if (order !== undefined) reorder(target, order, columns, 'transformers')
  if (surplus !== undefined) for (let i = 0; i < target.length; i++) target[i]! -= surplus
  if (isNegativeExp) for (const [i, value] of target.entries()) target[i] = Math.log(-value)
}

/** How the values of a tensor differ from those of transformers, as in an entry. */
export type RowLayout = Pick<TensorEntry, 'order' | 'surplus' | 'isNegativeExp'>

/** Changes values in the order of transformers to another layout. */
export function layOut(values: Float32Array, {order, surplus, isNegativeExp}: RowLayout, columns: number): void {
  if (order !== undefined) reorder(values, order, columns, 'file')
  if (surplus !== undefined) for (let i = 0; i < values.length; i++) values[i]! += surplus
  if (isNegativeExp) for (const [i, value] of values.entries()) values[i] = -Math.exp(value)
}

/**
 * Reads the values of a tensor as 32-bit floats, row-major; F16 and BF16 are widened without loss.
 * @throws tensor_dtype for a dtype that is not one of weights; model_file_invalid if the file has shrunk
 */
export async function readTensorFloat32(entry: TensorEntry): Promise<Float32Array> {
  refuseOtherThanWeights(entry)
  const values = new Float32Array(entry.shape.reduce((product, dim) => product * dim, 1))
  const columns = entry.shape.length > 1 ? (entry.shape.at(-1) as number) : 1
  for await (const bytes of readTensorBytes(entry, Math.max(1, entry.length))) widenRows(bytes, entry, columns, values)
  return values
}
