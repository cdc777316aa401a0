import {closeSync, openSync, readSync, writeSync} from 'node:fs'
import {SvcError} from '../errors/index.js'
import {writeFault} from '../files/index.js'
import {type BlockDtype, blockTypeOf, isBlockDtype, unpackBlocks} from './block-types.js'
import {blockBounds, columnBounds, quantizeBlocks, quantizeColumns, quantizeNibbles} from './quantize.js'
import {orderedRows, reorder, type StoredOrder} from './stored-order.js'
import {type WeightDtype, weightBytes, widenRows} from './weight-rows.js'

/**
 * How a matrix is quantised; see `quantize.ts`. With `exact`, the integers of a GGUF file are copied, with their scales and
 * offsets. `stored` copies them to 8 bits for a graph that computes with 32-bit floats.
 */
export type Scheme =
  | {kind: 'columns'; max: number; bounds: boolean}
  | {kind: 'blocks'; size: number; bounds: boolean; exact?: boolean}
  | {kind: 'nibbles'; size: number; exact?: boolean}
  | {kind: 'stored'; size: number; exact: true}

/** Whether the integers of a GGUF file are copied. */
export const isExact = (scheme: Scheme): boolean => scheme.kind !== 'columns' && scheme.exact === true

/** Rows of a matrix `[rows, input]` in a file, and where their quantised copy is written. Offsets are in bytes. */
export interface QuantizeJob {
  source: {name: string; file: string; dtype: WeightDtype; offset: number; order?: StoredOrder | undefined}
  rows: number
  input: number
  scheme: Scheme
  values: number
  scales: number
  /** Where the norms of `columnBounds` or `blockBounds` are written. */
  bounds?: number | undefined
  /** Where the offsets of exact copies are written. */
  offsets?: number | undefined
}

/** Weights that a thread reads and widens at a time: 4 MB of 32-bit floats. */
const chunkWeights = 1 << 20

/**
 * Runs jobs one after another. Of a matrix, only a chunk of rows is in memory as floats, and the result of one job.
 * @param target existing file
 * @param onDone called after each job
 * @throws model_file_invalid if a source has shrunk; disk_full, file_unwritable
 */
export function runQuantizeJobs(target: string, jobs: Iterable<QuantizeJob>, onDone: (job: QuantizeJob) => void): void {
  const sources = new Map<string, number>()
  const memory: Memory = {bytes: new Uint8Array(0), floats: new Float32Array(0)}
  const output = openSync(target, 'r+')
  try {
    for (const job of jobs) {
      const {file} = job.source
      const source = sources.get(file) ?? openSource(file)
      sources.set(file, source)
      const {values, scales, bounds, offsets} = quantize(job, source, memory)
      try {
        writeAt(output, values, job.values)
        writeAt(output, scales, job.scales)
        if (bounds !== undefined && job.bounds !== undefined) writeAt(output, bounds, job.bounds)
        if (offsets !== undefined && job.offsets !== undefined) writeAt(output, offsets, job.offsets)
      } catch (error) {
        throw writeFault(error, target)
      }
      onDone(job)
    }
  } finally {
    for (const handle of [output, ...sources.values()]) closeSync(handle)
  }
}

function openSource(file: string): number {
  try {
    return openSync(file, 'r')
  } catch (error) {
    throw SvcError.from(error)
  }
}

/** Buffers for a chunk of rows, used again for each one. */
interface Memory {
  bytes: Uint8Array
  floats: Float32Array
}

interface Quantized {
  values: Int8Array | Uint8Array
  scales: Float32Array
  bounds?: Float32Array | undefined
  offsets?: Float32Array | undefined
}

function quantize({source, rows, input, scheme}: QuantizeJob, handle: number, memory: Memory): Quantized {
  if (scheme.kind === 'stored' || isExact(scheme)) return copyBlocks(source, handle, {rows, input, scheme}, memory)
  const read = (first: number, count: number) => readFloats(source, handle, {first, count, input}, memory)
  if (scheme.kind !== 'columns') {
    const weight = read(0, rows)
    if (scheme.kind === 'nibbles') return quantizeNibbles(weight, input, scheme.size)
    const blocks = quantizeBlocks(weight, input, scheme.size)
    return scheme.bounds ? {...blocks, bounds: blockBounds(weight, input, scheme.size, blocks)} : blocks
  }
  const result = {values: new Int8Array(rows * input), scales: new Float32Array(rows)}
  const bounds = scheme.bounds ? new Float32Array(2 * rows) : undefined
  const step = rowsPerChunk(input, source.order)
  for (let first = 0; first < rows; first += step) {
    const weight = read(first, Math.min(step, rows - first))
    quantizeColumns(weight, input, first, scheme.max, result)
    bounds?.set(columnBounds(weight, input, scheme.max), 2 * first)
  }
  return {...result, bounds}
}

/** Copies the integers of rows. */
function copyBlocks(
  source: QuantizeJob['source'],
  handle: number,
  {rows, input, scheme}: Pick<QuantizeJob, 'rows' | 'input' | 'scheme'>,
  memory: Memory,
): Quantized {
  const {dtype, order} = source
  if (!isBlockDtype(dtype)) throw new Error(`The type ${dtype} has no blocks.`)
  const {group, hasOffsets} = blockTypeOf(dtype)
  const {values, scales, offsets} = unpackBlocks(
    readRows(source, handle, {first: 0, count: rows, input}, memory),
    dtype,
  )
  if (order !== undefined) {
    reorder(values, order, input, 'transformers')
    for (const each of [scales, offsets]) reorder(each, order, input / group, 'transformers')
  }
  const packed = scheme.kind === 'nibbles' ? packNibbles(values, scales, offsets, dtype) : values
  return {values: packed, scales, offsets: hasOffsets ? offsets : undefined}
}

/** Packs integers of 4 bits, two per byte, the first in the lower half, with 8 for 0: changes the offsets so. */
function packNibbles(values: Uint8Array, scales: Float32Array, offsets: Float32Array, dtype: BlockDtype): Uint8Array {
  const {nibbleZero} = blockTypeOf(dtype)
  if (nibbleZero === undefined) throw new Error(`The integers of the type ${dtype} have more than 4 bits.`)
  const shift = nibbleZero - 128
  for (let i = 0; i < offsets.length; i++) offsets[i] = offsets[i]! + (8 - nibbleZero) * scales[i]!
  const packed = new Uint8Array(values.length / 2)
  for (let i = 0; i < packed.length; i++) packed[i] = (values[2 * i]! + shift) | ((values[2 * i + 1]! + shift) << 4)
  return packed
}

/** Number of rows of a chunk: complete runs of a matrix in another order. */
export function rowsPerChunk(input: number, order: StoredOrder | undefined): number {
  const rows = orderedRows(order)
  return rows * Math.max(1, Math.floor(chunkWeights / (input * rows)))
}

interface Rows {
  first: number
  count: number
  input: number
}

/** The floats are valid until the next call. */
function readFloats(source: QuantizeJob['source'], handle: number, rows: Rows, memory: Memory): Float32Array {
  const length = rows.count * rows.input
  if (memory.floats.length < length) memory.floats = new Float32Array(length)
  const floats = memory.floats.subarray(0, length)
  widenRows(readRows(source, handle, rows, memory), source, rows.input, floats)
  return floats
}

/** The bytes are valid until the next call. */
function readRows(
  {name, file, dtype, offset}: QuantizeJob['source'],
  handle: number,
  {first, count, input}: Rows,
  memory: Memory,
): Uint8Array {
  const size = weightBytes(dtype, input)
  if (memory.bytes.length < count * size) memory.bytes = new Uint8Array(count * size)
  const bytes = memory.bytes.subarray(0, count * size)
  const start = offset + first * size
  for (let at = 0; at < bytes.length; ) {
    const read = readSync(handle, bytes, at, bytes.length - at, start + at)
    if (read === 0) throw new SvcError('model_file_invalid', {file, reason: `it ends within the tensor ${name}`})
    at += read
  }
  return bytes
}

function writeAt(handle: number, {buffer, byteOffset, byteLength}: ArrayBufferView, position: number): void {
  const bytes = new Uint8Array(buffer, byteOffset, byteLength)
  for (let at = 0; at < bytes.length; ) at += writeSync(handle, bytes, at, bytes.length - at, position + at)
}
