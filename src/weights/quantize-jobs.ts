import {closeSync, openSync, readSync, writeSync} from 'node:fs'
import {SvcError} from '../errors/index.js'
import {writeFault} from '../files/index.js'
import {dtypeBytes, type FloatDtype} from './dtype.js'
import {blockBounds, columnBounds, quantizeBlocks, quantizeColumns, quantizeNibbles} from './quantize.js'
import {widenFloats} from './widen.js'

/** How a matrix is quantised; see `quantize.ts`. */
export type Scheme =
  | {kind: 'columns'; most: number; bounds: boolean}
  | {kind: 'blocks'; size: number; bounds: boolean}
  | {kind: 'nibbles'; size: number}

/** Rows of a matrix `[rows, input]` in a file, and where their quantised copy is written. Offsets are in bytes. */
export interface QuantizeJob {
  source: {name: string; file: string; dtype: FloatDtype; offset: number}
  rows: number
  input: number
  scheme: Scheme
  values: number
  scales: number
  /** Where the norms of `columnBounds` or `blockBounds` are written. */
  bounds?: number | undefined
}

/** Weights that a thread reads and widens at a time: 4 MB of 32-bit floats. */
const chunkWeights = 1 << 20

/**
 * Runs jobs one after another. Of a matrix, only a chunk of rows is in memory as floats, and the result of one job.
 * @param target existing file
 * @param onDone called after each job
 * @throws safetensors_invalid if a source has shrunk; disk_full, file_unwritable
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
      const {values, scales, bounds} = quantize(job, source, memory)
      try {
        writeAt(output, values, job.values)
        writeAt(output, scales, job.scales)
        if (bounds !== undefined && job.bounds !== undefined) writeAt(output, bounds, job.bounds)
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
}

function quantize({source, rows, input, scheme}: QuantizeJob, handle: number, memory: Memory): Quantized {
  const read = (first: number, count: number) => readRows(source, handle, {first, count, input}, memory)
  if (scheme.kind !== 'columns') {
    const weight = read(0, rows)
    if (scheme.kind === 'nibbles') return quantizeNibbles(weight, input, scheme.size)
    const blocks = quantizeBlocks(weight, input, scheme.size)
    return scheme.bounds ? {...blocks, bounds: blockBounds(weight, input, scheme.size, blocks)} : blocks
  }
  const result = {values: new Int8Array(rows * input), scales: new Float32Array(rows)}
  const bounds = scheme.bounds ? new Float32Array(2 * rows) : undefined
  const step = rowsPerChunk(input)
  for (let first = 0; first < rows; first += step) {
    const weight = read(first, Math.min(step, rows - first))
    quantizeColumns(weight, input, first, scheme.most, result)
    bounds?.set(columnBounds(weight, input, scheme.most), 2 * first)
  }
  return {...result, bounds}
}

/** Number of rows of a chunk, at least one. */
export const rowsPerChunk = (input: number): number => Math.max(1, Math.floor(chunkWeights / input))

/** The floats are valid until the next call. */
function readRows(
  {name, file, dtype, offset}: QuantizeJob['source'],
  handle: number,
  {first, count, input}: {first: number; count: number; input: number},
  memory: Memory,
): Float32Array {
  const size = dtypeBytes(dtype)
  const length = count * input
  if (memory.floats.length < length)
    Object.assign(memory, {bytes: new Uint8Array(4 * length), floats: new Float32Array(length)})
  const bytes = memory.bytes.subarray(0, length * size)
  const start = offset + first * input * size
  for (let at = 0; at < bytes.length; ) {
    const read = readSync(handle, bytes, at, bytes.length - at, start + at)
    if (read === 0) throw new SvcError('safetensors_invalid', {file, reason: `it ends within the tensor ${name}`})
    at += read
  }
  const floats = memory.floats.subarray(0, length)
  widenFloats(bytes, dtype, floats)
  return floats
}

function writeAt(handle: number, {buffer, byteOffset, byteLength}: ArrayBufferView, position: number): void {
  const bytes = new Uint8Array(buffer, byteOffset, byteLength)
  for (let at = 0; at < bytes.length; ) at += writeSync(handle, bytes, at, bytes.length - at, position + at)
}
