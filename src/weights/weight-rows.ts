import {type FileHandle, open} from 'node:fs/promises'
import {SvcError} from '../errors/index.js'
import {type BlockDtype, blockDtypes, blockTypeOf, isBlockDtype, widenBlocks} from './block-types.js'
import {dtypeBytes, type FloatDtype, isWidened, widened} from './dtype.js'
import {readRange, type TensorEntry} from './safetensors.js'
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

/** The values of one tensor; see `readTensorsFloat32`. */
export async function readTensorFloat32(entry: TensorEntry): Promise<Float32Array> {
  const [values] = await readTensorsFloat32([entry])
  return values as Float32Array
}

/**
 * Reads the values of tensors as 32-bit floats, row-major; F16 and BF16 are widened without loss. Opens each file once.
 * @throws tensor_dtype for a dtype that is not one of weights; model_file_invalid if a file has shrunk
 */
export async function readTensorsFloat32(entries: readonly TensorEntry[]): Promise<Float32Array[]> {
  const files = new Map<string, Promise<FileHandle>>()
  const fileOf = ({file}: TensorEntry) => {
    const handle = files.get(file) ?? open(file)
    files.set(file, handle)
    return handle
  }
  const read = async (entry: TensorEntry): Promise<Float32Array> => {
    refuseOtherThanWeights(entry)
    const {file, offset, length, dtype} = entry
    const bytes = await readRange(file, await fileOf(entry), offset, length)
    if (dtype === 'F32' && isPlain(entry)) return new Float32Array(bytes)
    const values = valuesOf(entry)
    widenRows(new Uint8Array(bytes), entry, columnsOf(entry), values)
    return values
  }
  const results = await Promise.allSettled(entries.map(read))
  for (const handle of files.values()) await handle.then((opened) => opened.close()).catch(() => undefined)
  return results.map((result) => {
    if (result.status === 'rejected') throw SvcError.from(result.reason)
    return result.value
  })
}

const isPlain = ({order, surplus, isNegativeExp}: TensorEntry) =>
  order === undefined && surplus === undefined && isNegativeExp !== true

const valuesOf = ({shape}: TensorEntry) => new Float32Array(shape.reduce((product, dim) => product * dim, 1))

const columnsOf = ({shape}: TensorEntry): number => (shape.length > 1 ? (shape.at(-1) as number) : 1)
