import {createHash} from 'node:crypto'
import {addLowRankRow, type LowRank} from './low-rank.js'

/** How the updates of several adapters become one. */
export interface MergeMethodChoice {
  name: MergeMethodName
  /** Part of the elements of each update that is kept, above 0 and at most 1; without effect for `linear`. */
  density: number
  /** Of the elements that `dare` drops. */
  seed: number
}

/** The update of one adapter. */
export interface WeightedUpdate {
  /** Parts that are added up. */
  change: readonly LowRank[]
  weight: number
  /** Position of the adapter among those that are merged. */
  adapter: number
}

/**
 * Adds a row of the combined update to a total.
 * @param total `[columns]`
 */
type AddRow = (row: number, total: Float64Array) => void

interface UpdatedTensor {
  name: string
  rows: number
  columns: number
}

/** @param updates those of a tensor, in the order of the adapters */
type MergeMethod = (
  updates: readonly WeightedUpdate[],
  tensor: UpdatedTensor,
  choice: MergeMethodChoice,
) => Promise<AddRow>

/** The sum of the weighted updates. */
const linear: MergeMethod = async (updates) => (row, total) => {
  for (const {change, weight} of updates) addLowRankRow(row, change, weight, total)
}

/**
 * TIES: of each update, keeps the elements with the largest magnitudes. Each element gets the mean of the weighted updates that
 * have the sign of their sum. Source: Yadav et al. 2023.
 */
const ties: MergeMethod = async (updates, tensor, {density}) => {
  const {columns} = tensor
  const smallest: number[] = []
  for (const {change} of updates) smallest.push(await smallestKept(change, tensor, density))
  const deltas = updates.map(() => new Float64Array(columns))
  return (row, total) => {
    for (const [i, {change}] of updates.entries()) addLowRankRow(row, change, 1, deltas[i]!.fill(0))
    for (let column = 0; column < columns; column++) {
      let sum = 0
      for (let i = 0; i < deltas.length; i++) {
        const value = deltas[i]![column]!
        const weighted = Math.fround(Math.abs(value)) < smallest[i]! ? 0 : updates[i]!.weight * value
        deltas[i]![column] = weighted
        sum += weighted
      }
      total[column] = total[column]! + meanOfSign(deltas, column, sum)
    }
  }
}

/** The mean of the values with the sign of their sum; 0 if there is none. */
function meanOfSign(values: readonly Float64Array[], column: number, sum: number): number {
  let agreeing = 0
  let count = 0
  for (let i = 0; i < values.length; i++) {
    const value = values[i]![column]!
    if (value * sum <= 0) continue
    agreeing += value
    count++
  }
  return count === 0 ? 0 : agreeing / count
}

/**
 * DARE: drops elements of each update at random and scales the others up, so that the expected update is the same. Source: Yu et
 * al. 2024.
 */
const dare: MergeMethod = async (updates, {name, columns}, {density, seed}) => {
  const keys = updates.map(({adapter}) => keyOf(`${seed}\n${adapter}\n${name}`))
  const limit = density * 2 ** 32
  const delta = new Float64Array(columns)
  return (row, total) => {
    for (const [i, {change, weight}] of updates.entries()) {
      addLowRankRow(row, change, weight / density, delta.fill(0))
      const start = mixed(keys[i]! ^ Math.imul(row, 0x9e3779b1))
      for (let column = 0; column < columns; column++)
        if (mixed(start ^ Math.imul(column, 0x85ebca77)) < limit) total[column] = total[column]! + delta[column]!
    }
  }
}

const methods = {linear, ties, dare} as const satisfies Record<string, MergeMethod>

export type MergeMethodName = keyof typeof methods

export const mergeMethods = Object.keys(methods) as MergeMethodName[]

/** The combined update of a tensor, computed row by row. */
export class CombinedUpdate {
  readonly #addRow: AddRow
  readonly #total: Float64Array

  private constructor(addRow: AddRow, columns: number) {
    this.#addRow = addRow
    this.#total = new Float64Array(columns)
  }

  /** @param updates at least one */
  static async of(
    updates: readonly WeightedUpdate[],
    tensor: UpdatedTensor,
    choice: MergeMethodChoice,
  ): Promise<CombinedUpdate> {
    return new CombinedUpdate(await methods[choice.name](updates, tensor, choice), tensor.columns)
  }

  /**
   * Adds the update to complete rows of the weight in place, and rounds once to 32 bits.
   * @param block rows of the weight, row-major
   * @param firstRow index of the first row of the block
   */
  addTo(block: Float32Array, firstRow: number): void {
    const total = this.#total
    for (let at = 0, row = firstRow; at < block.length; at += total.length, row++) {
      this.#addRow(row, total.fill(0))
      for (let i = 0; i < total.length; i++) block[at + i] = block[at + i]! + total[i]!
    }
  }
}

/** Elements that are computed before other work of the thread. */
const turnElements = 1 << 20
/** Bits of a magnitude that are found in the first pass, and in the second. */
const [highBits, lowBits] = [16, 15]

/**
 * The smallest of the largest magnitudes of an update, as 32-bit float. They are counted in two passes by parts of their bits,
 * which are in the same order, so that no copy of the update is in memory.
 * @param density the part of all elements that is at least as large, or a little more if several are equal
 */
async function smallestKept(
  change: readonly LowRank[],
  {rows, columns}: Pick<UpdatedTensor, 'rows' | 'columns'>,
  density: number,
): Promise<number> {
  const wanted = Math.max(1, Math.round(density * rows * columns))
  const high = await countMagnitudes(change, {rows, columns}, highBits, (bits) => bits >>> lowBits)
  const [top, above] = fromTop(high, wanted)
  const low = await countMagnitudes(change, {rows, columns}, lowBits, (bits) =>
    bits >>> lowBits === top ? bits & ((1 << lowBits) - 1) : -1,
  )
  const [rest] = fromTop(low, wanted - above)
  return new Float32Array(Uint32Array.of(((top << lowBits) | rest) >>> 0).buffer)[0]!
}

/** @param binOf of the 31 bits of a magnitude; negative: none */
async function countMagnitudes(
  change: readonly LowRank[],
  {rows, columns}: Pick<UpdatedTensor, 'rows' | 'columns'>,
  bits: number,
  binOf: (magnitude: number) => number,
): Promise<Float64Array> {
  const counts = new Float64Array(1 << bits)
  const sums = new Float64Array(columns)
  const rounded = new Float32Array(columns)
  const patterns = new Uint32Array(rounded.buffer)
  for (let row = 0, since = 0; row < rows; row++) {
    addLowRankRow(row, change, 1, sums.fill(0))
    rounded.set(sums)
    for (const pattern of patterns) {
      const bin = binOf(pattern & 0x7fffffff)
      if (bin >= 0) counts[bin] = counts[bin]! + 1
    }
    since += columns
    if (since < turnElements) continue
    since = 0
    await new Promise((resolve) => setImmediate(resolve))
  }
  return counts
}

/** The bin that contains the largest `wanted` values, and how many are in the bins above it. */
function fromTop(counts: Float64Array, wanted: number): [bin: number, above: number] {
  let above = 0
  for (let bin = counts.length - 1; bin > 0; bin--) {
    if (above + counts[bin]! >= wanted) return [bin, above]
    above += counts[bin]!
  }
  return [0, above]
}

const keyOf = (text: string): number => createHash('sha256').update(text).digest().readUInt32LE(0)

/** Bits that look random: the finalizer of MurmurHash3. */
function mixed(value: number): number {
  let bits = value
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b)
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35)
  return (bits ^ (bits >>> 16)) >>> 0
}
