/**
 * An order of rows or columns that is not that of transformers. After the first `skip` rows, runs of `outer * inner * unit` follow
 * one another. A file has each run as `[outer, inner, unit]`, and transformers has it as `[inner, outer, unit]`.
 *
 * Two kinds are in GGUF files. In Llama models, the rows of each head alternate between its halves. In the linear attention of
 * Qwen3.5, the first heads of values of all keys precede the second ones.
 */
export interface StoredOrder {
  /** For columns, a row is a run. */
  readonly axis: 'rows' | 'columns'
  readonly skip: number
  readonly outer: number
  readonly inner: number
  readonly unit: number
}

/** Rows of a head that alternate between its halves. */
export const alternatingRows = (headRows: number): StoredOrder => ({
  axis: 'rows',
  skip: 0,
  outer: headRows / 2,
  inner: 2,
  unit: 1,
})

/** Number of rows that cannot be ordered separately. */
export const orderedRows = (order: StoredOrder | undefined): number =>
  order?.axis === 'rows' ? order.skip + order.outer * order.inner * order.unit : 1

export const isSameOrder = (a: StoredOrder | undefined, b: StoredOrder | undefined): boolean =>
  a === b || JSON.stringify(a) === JSON.stringify(b)

/** The number of elements that precede the runs, and the sizes of a run, in a matrix with a number of columns. */
export function orderedSizes({axis, skip, outer, inner, unit}: StoredOrder, columns: number) {
  if (axis === 'rows') return {start: skip * columns, outer, inner, unit: unit * columns}
  return {start: 0, outer, inner, unit: columns / (outer * inner)}
}

/**
 * Orders complete runs as transformers does, or as the file.
 * @param columns elements of a row: weights, or groups of weights
 */
export function reorder<T extends Float32Array | Uint8Array>(
  values: T,
  order: StoredOrder,
  columns: number,
  target: 'transformers' | 'file',
): void {
  const sizes = orderedSizes(order, columns)
  const {start, unit} = sizes
  const [outer, inner] = target === 'transformers' ? [sizes.outer, sizes.inner] : ([sizes.inner, sizes.outer] as const)
  const length = outer * inner * unit
  for (let from = start; from < values.length; from += length) {
    const run = values.slice(from, from + length)
    for (let i = 0; i < outer; i++)
      for (let j = 0; j < inner; j++) {
        const at = (i * inner + j) * unit
        values.set(run.subarray(at, at + unit), from + (j * outer + i) * unit)
      }
  }
}
