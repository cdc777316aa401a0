import {SvcError} from '../../errors/index.js'
import {dtypeBytes, isWidened} from '../dtype.js'
import {narrowFloats} from '../narrow.js'
import {elements, readTensorBytes, refuseOtherThanFloats} from '../safetensors.js'
import {widenFloats} from '../widen.js'
import {addLowRank, readLowRank} from './low-rank.js'
import type {PlannedTensor} from './merge-plan.js'

/** Elements in memory at once; rows are never split. */
const blockElements = 1 << 20
/** Bytes of a copied tensor in memory at once. */
const copiedBytes = 1 << 22

/**
 * The bytes of a planned tensor in blocks of rows; each chunk is valid until the next one is requested.
 * @throws tensor_overflow, adapter_mismatch, safetensors_invalid
 */
export async function* mergedBytes({name, from, delta, dtype}: PlannedTensor): AsyncGenerator<Uint8Array> {
  if (delta === undefined && dtype === from.dtype) {
    yield* readTensorBytes(from, copiedBytes)
    return
  }
  if (!isWidened(dtype)) throw new Error(`Cannot convert ${name} to ${dtype}.`)
  refuseOtherThanFloats(from)
  const change = delta === undefined ? undefined : await readLowRank(delta, from)
  const columns = from.shape.at(-1) ?? 1
  const rows = Math.max(1, Math.floor(Math.min(blockElements, elements(from.shape)) / Math.max(1, columns)))
  const memory = {block: new Float32Array(rows * columns), halves: new Uint16Array(rows * columns)}
  let row = 0
  for await (const bytes of readTensorBytes(from, rows * columns * dtypeBytes(from.dtype))) {
    const block = memory.block.subarray(0, bytes.length / dtypeBytes(from.dtype))
    widenFloats(bytes, from.dtype, block)
    if (change !== undefined) addLowRank(block, row, change)
    const narrowed = narrowFloats(block, dtype, memory.halves)
    if (narrowed === undefined) throw new SvcError('tensor_overflow', {tensor: name, dtype})
    yield narrowed
    row += rows
  }
}
