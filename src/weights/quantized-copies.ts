import {join} from 'node:path'
import {logger} from '../log/index.js'
import {startThread} from '../process/index.js'
import {type BlockDtype, blockTypeOf, isBlockDtype} from './block-types.js'
import {type Derivation, derivedFiles} from './derived-cache.js'
import {failure} from './failure.js'
import {quantizedBlock} from './quantize.js'
import {isExact, type QuantizeJob, rowsPerChunk, runQuantizeJobs, type Scheme} from './quantize-jobs.js'
import type {QuantizeWork} from './quantize-worker.js'
import type {TensorEntry} from './safetensors.js'
import {createSafetensors, type TensorLayout} from './safetensors-writer.js'
import {readTensorMap, type TensorMap} from './shards.js'
import {refuseOtherThanWeights} from './weight-rows.js'

/** A matrix `[out, in]` and how its copy is quantised. */
export interface QuantizedCopy {
  entry: TensorEntry
  scheme: Scheme
}

/** Weights that are quantised so far, and in all. */
export interface QuantizeProgress {
  done: number
  total: number
}

export interface CopyOptions extends Omit<Derivation, 'kind' | 'sources'> {
  /** Maximum number of threads; at most 4 are used. */
  threads: number
  onProgress?: ((progress: QuantizeProgress) => void) | undefined
}

const fileName = 'weights.safetensors'
/** More threads would wait for the disk. */
const maxThreads = 4
/** Weights for which starting threads, about 50 ms each, is not worthwhile. */
const fewWeights = 8 << 20

/**
 * Adds quantised copies of matrices to the tensors of a model. They are cached in a file, which is written in place by
 * several threads; its bytes do not depend on their number.
 * @throws cache_unwritable, tensor_dtype, quantisation_failed
 */
export async function withCopies(
  tensors: TensorMap,
  copies: readonly QuantizedCopy[],
  {threads, onProgress, ...derivation}: CopyOptions,
): Promise<TensorMap> {
  for (const {entry} of copies) refuseOtherThanWeights(entry)
  const sources = [...new Set([...tensors.values()].map(({file}) => file))].sort()
  const folder = await derivedFiles({...derivation, kind: 'quantised', sources}, async (partial) => {
    const log = logger('weights')
    const {model, recipe} = derivation
    log.info({model, recipe}, 'quantising the weights')
    const started = performance.now()
    await write(join(partial, fileName), copies, threads, onProgress)
    log.info({model, recipe, ms: Math.round(performance.now() - started)}, 'quantised the weights')
  })
  return new Map([...tensors, ...(await readTensorMap(join(folder, fileName)))])
}

async function write(
  file: string,
  copies: readonly QuantizedCopy[],
  threads: number,
  onProgress: CopyOptions['onProgress'],
): Promise<void> {
  const written = await createSafetensors(file, copies.flatMap(layoutOf))
  const places = new Map(written.map(({name, offset}) => [name, offset]))
  const jobs = copies.flatMap((copy) => jobsOf(copy, places))
  const total = jobs.reduce((sum, {rows, input}) => sum + rows * input, 0)
  let done = 0
  const add = (weights: number) => {
    done += weights
    onProgress?.({done, total})
  }
  if (total <= fewWeights) runQuantizeJobs(file, jobs, ({rows, input}) => add(rows * input))
  else await runInThreads({target: file, jobs, next: new Int32Array(new SharedArrayBuffer(4))}, threads, add)
}

/** Each thread takes the next job until none is left. If one fails, the others are stopped. */
async function runInThreads(work: QuantizeWork, threads: number, onProgress: (weights: number) => void): Promise<void> {
  const failed = new AbortController()
  const program = new URL('./quantize-worker.js', import.meta.url)
  const run = async () => {
    const {exited} = await startThread<undefined>(program, {data: work, failure, signal: failed.signal, onProgress})
    await exited
  }
  try {
    await Promise.all(Array.from({length: Math.max(1, Math.min(threads, maxThreads))}, run))
  } catch (error) {
    failed.abort(error)
    throw error
  }
}

/**
 * Copy with one scale per output: `NAME.columns` `[in, out]` and `NAME.columns_scale` `[out]`; with `bounds`, also
 * `NAME.columns_bounds` `[out, 2]` of `columnBounds`.
 */
export const columnsCopy = (entry: TensorEntry, max = 127, {bounds = false} = {}): QuantizedCopy => ({
  entry,
  scheme: {kind: 'columns', max, bounds},
})

/**
 * Copy with one scale per block: `NAME.blocks` `[out, blocks, size]` and `NAME.blocks_scale` `[out * blocks]`; with
 * `bounds`, also `NAME.blocks_bounds` `[out, 2]` of `blockBounds`.
 */
export const blocksCopy = (entry: TensorEntry, size = quantizedBlock, {bounds = false} = {}): QuantizedCopy => ({
  entry,
  scheme: {kind: 'blocks', size, bounds},
})

/** Copy of 4 bits: `NAME.nibbles` `[out, blocks, size / 2]` and `NAME.nibbles_scale` `[out * blocks]`. */
export const nibblesCopy = (entry: TensorEntry, size = quantizedBlock): QuantizedCopy => ({
  entry,
  scheme: {kind: 'nibbles', size},
})

/** A matrix of blocks of integers in a GGUF file. */
export type BlockEntry = TensorEntry & {readonly dtype: BlockDtype}

export const isBlockEntry = (entry: TensorEntry): entry is BlockEntry => isBlockDtype(entry.dtype)

/** Whether the integers of a matrix have 4 bits and fit into a copy of 4 bits. */
export const hasNibbles = ({dtype}: BlockEntry): boolean => blockTypeOf(dtype).nibbleZero !== undefined

/**
 * Copy of the integers of a GGUF file, without rounding: as `blocksCopy` or `nibblesCopy`; or `NAME.stored`, as
 * `NAME.blocks`, for a graph that computes with 32-bit floats. If the type has offsets, also `NAME.KIND_offset`
 * `[out * blocks]`, which are added to the products of integers and scales.
 */
export function exactCopy(entry: BlockEntry, kind: 'blocks' | 'nibbles' | 'stored'): QuantizedCopy {
  const size = blockTypeOf(entry.dtype).group
  return {entry, scheme: kind === 'blocks' ? {kind, size, bounds: false, exact: true} : {kind, size, exact: true}}
}

function layoutOf({entry: {name, shape, dtype}, scheme}: QuantizedCopy): TensorLayout[] {
  const [out = 0, input = 0] = shape
  const pair = (dtype: 'I8' | 'U8', values: number[], scales: number): TensorLayout[] => [
    {name: `${name}.${scheme.kind}`, dtype, shape: values},
    {name: `${name}.${scheme.kind}_scale`, dtype: 'F32', shape: [scales]},
  ]
  const bounds: TensorLayout[] =
    (scheme.kind === 'columns' || scheme.kind === 'blocks') && scheme.bounds
      ? [{name: `${name}.${scheme.kind}_bounds`, dtype: 'F32', shape: [out, 2]}]
      : []
  if (scheme.kind === 'columns') return [...pair('I8', [input, out], out), ...bounds]
  const blocks = Math.ceil(input / scheme.size)
  const offsets: TensorLayout[] =
    isExact(scheme) && isBlockDtype(dtype) && blockTypeOf(dtype).hasOffsets
      ? [{name: `${name}.${scheme.kind}_offset`, dtype: 'F32', shape: [out * blocks]}]
      : []
  return [...pair('U8', [out, blocks, bytesPerBlock(scheme)], out * blocks), ...bounds, ...offsets]
}

const bytesPerBlock = ({kind, size}: Exclude<Scheme, {kind: 'columns'}>) => (kind === 'nibbles' ? size / 2 : size)

/** The columns of a matrix are a job, because each row changes all of its copy; blocks of rows are jobs of their own. */
function jobsOf({entry, scheme}: QuantizedCopy, places: ReadonlyMap<string, number>): QuantizeJob[] {
  refuseOtherThanWeights(entry)
  const {name, file, dtype, offset, length, order} = entry
  const [out = 0, input = 0] = entry.shape
  const values = places.get(`${name}.${scheme.kind}`) as number
  const scales = places.get(`${name}.${scheme.kind}_scale`) as number
  const bounds = places.get(`${name}.${scheme.kind}_bounds`)
  if (scheme.kind === 'columns')
    return [{source: {name, file, dtype, offset, order}, rows: out, input, scheme, values, scales, bounds}]
  const offsets = places.get(`${name}.${scheme.kind}_offset`)
  const blocks = Math.ceil(input / scheme.size)
  const step = rowsPerChunk(input, order)
  return Array.from({length: Math.ceil(out / step)}, (_, i) => {
    const first = i * step
    return {
      source: {name, file, dtype, offset: offset + (length / out) * first, order},
      rows: Math.min(step, out - first),
      input,
      scheme,
      values: values + first * blocks * bytesPerBlock(scheme),
      scales: scales + first * blocks * Float32Array.BYTES_PER_ELEMENT,
      bounds: bounds === undefined ? undefined : bounds + first * 2 * Float32Array.BYTES_PER_ELEMENT,
      offsets: offsets === undefined ? undefined : offsets + first * blocks * Float32Array.BYTES_PER_ELEMENT,
    }
  })
}
