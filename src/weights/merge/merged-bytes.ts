import {SvcError} from '../../errors/index.js'
import {isWidened} from '../dtype.js'
import {narrowFloats, narrowToBlocks} from '../narrow.js'
import {elements, readTensorBytes} from '../safetensors.js'
import {isSameOrder, orderedRows} from '../stored-order.js'
import {layOut, refuseOtherThanWeights, weightBytes, widenRows} from '../weight-rows.js'
import {readLowRank} from './low-rank.js'
import {CombinedUpdate, type MergeMethodChoice} from './merge-methods.js'
import type {PlannedTensor} from './merge-plan.js'

/** Elements in memory at once; rows, and runs of rows in another order, are never split. */
const blockElements = 1 << 20
/** Bytes of a copied tensor in memory at once. */
const copiedBytes = 1 << 22

/**
 * The bytes of a planned tensor in blocks of rows; each chunk is valid until the next one is requested.
 * @throws tensor_overflow, adapter_mismatch, safetensors_invalid
 */
export async function* mergedBytes(
  {name, from, updates, dtype, layout = {}}: PlannedTensor,
  method: MergeMethodChoice,
): AsyncGenerator<Uint8Array> {
  const isSame = [
    isSameOrder(from.order, layout.order),
    from.surplus === layout.surplus,
    from.isNegativeExp === layout.isNegativeExp,
  ].every(Boolean)
  if (updates.length === 0 && dtype === from.dtype && isSame) {
    yield* readTensorBytes(from, copiedBytes)
    return
  }
  if (!isWidened(dtype) && dtype !== 'Q8_0') throw new Error(`Cannot convert ${name} to ${dtype}.`)
  refuseOtherThanWeights(from)
  const {shape} = from
  const run = Math.max(orderedRows(from.order), orderedRows(layout.order))
  const columns = Math.max(1, shape.length > 1 ? (shape.at(-1) as number) : 1)
  const rows = run * Math.max(1, Math.floor(Math.min(blockElements, elements(shape)) / (columns * run)))
  const change = await combined({name, from, updates}, columns, method)
  const memory = {block: new Float32Array(rows * columns), halves: new Uint16Array(rows * columns)}
  const rowBytes = weightBytes(from.dtype, columns)
  let row = 0
  for await (const bytes of readTensorBytes(from, rows * rowBytes)) {
    const block = memory.block.subarray(0, (bytes.length / rowBytes) * columns)
    widenRows(bytes, from, columns, block)
    change?.addTo(block, row)
    layOut(block, layout, columns)
    const narrowed = dtype === 'Q8_0' ? narrowToBlocks(block) : narrowFloats(block, dtype, memory.halves)
    if (narrowed === undefined) throw new SvcError('tensor_overflow', {tensor: name, dtype})
    yield narrowed
    row += rows
  }
}

/** Undefined if the tensor is not updated. */
async function combined(
  {name, from, updates}: Pick<PlannedTensor, 'name' | 'from' | 'updates'>,
  columns: number,
  method: MergeMethodChoice,
): Promise<CombinedUpdate | undefined> {
  if (updates.length === 0) return undefined
  const changes = await Promise.all(
    updates.map(async ({parts, ...others}) => ({
      change: await Promise.all(parts.map(({delta, firstRow}) => readLowRank(delta, from, firstRow))),
      ...others,
    })),
  )
  return CombinedUpdate.of(changes, {name, rows: elements(from.shape) / columns, columns}, method)
}
