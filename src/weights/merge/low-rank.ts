import {type LoraDelta, requirePairFits} from '../adapter.js'
import type {TensorEntry} from '../safetensors.js'
import {readTensorFloat32} from '../weight-rows.js'

/** A low-rank update `scale * L R` of a weight `[rows, columns]`. */
export interface LowRank {
  rank: number
  columns: number
  /** L, `[rows, rank]`. */
  left: Float32Array
  /** R, `[rank, columns]`. */
  right: Float32Array
  scale: number
}

/** GPT-2 stores the weights of its projections transposed, as `[in, out]`. */
const isTransposed = (target: string) => /(^|\.)h\.\d+\.(attn|mlp)\.c_\w+\.weight$/.test(target)

/**
 * Reads a LoRA pair: B A for a weight `[out, in]`, or its transpose for a weight stored as `[in, out]`.
 * @param firstRow of the rows that B updates; undefined: all rows
 * @throws adapter_mismatch, tensor_dtype
 */
export async function readLowRank(delta: LoraDelta, weight: TensorEntry, firstRow?: number): Promise<LowRank> {
  const {target, a, b, scale} = delta
  const transposed = isTransposed(target)
  const [rows = 0, columns = 0] = weight.shape
  const [out, input] = transposed ? [columns, rows] : [rows, columns]
  const [rank = 0] = a.shape
  // A part that does not fit is refused as an update of all rows.
  const part = b.shape[0] ?? 0
  const isInside = firstRow !== undefined && firstRow >= 0 && firstRow + part <= out
  requirePairFits(delta, [isInside ? part : out, input])
  const down = await readTensorFloat32(a)
  const up = new Float32Array(out * rank)
  up.set(await readTensorFloat32(b), (firstRow ?? 0) * rank)
  const [left, right] = transposed ? [transpose(down, rank, input), transpose(up, out, rank)] : [up, down]
  return {rank, columns, left, right, scale: Math.fround(scale)}
}

function transpose(values: Float32Array, rows: number, columns: number): Float32Array {
  const out = new Float32Array(values.length)
  for (let i = 0; i < rows; i++) for (let j = 0; j < columns; j++) out[j * rows + i] = values[i * columns + j]!
  return out
}

/**
 * Adds one row of the updates, times a factor, to sums. Products are added four at a time.
 * @param sums `[columns]`
 */
export function addLowRankRow(row: number, updates: readonly LowRank[], factor: number, sums: Float64Array): void {
  for (const update of updates) addRow(row, update, factor, sums)
}

function addRow(row: number, {rank, columns, left, right, scale}: LowRank, factor: number, sums: Float64Array): void {
  const at = row * rank
  const scaled = (k: number) => left[at + k]! * scale * factor
  let k = 0
  for (; k + 4 <= rank; k += 4)
    addFour(sums, right, k * columns, scaled(k), scaled(k + 1), scaled(k + 2), scaled(k + 3))
  for (; k < rank; k++) addOne(sums, right, k * columns, scaled(k))
}

function addFour(
  sums: Float64Array,
  right: Float32Array,
  start: number,
  a: number,
  b: number,
  c: number,
  d: number,
): void {
  const n = sums.length
  for (let i = 0, p = start, q = p + n, r = q + n, s = r + n; i < n; i++, p++, q++, r++, s++)
    sums[i] = sums[i]! + a * right[p]! + b * right[q]! + c * right[r]! + d * right[s]!
}

function addOne(sums: Float64Array, right: Float32Array, start: number, factor: number): void {
  for (let i = 0; i < sums.length; i++) sums[i] = sums[i]! + factor * right[start + i]!
}
