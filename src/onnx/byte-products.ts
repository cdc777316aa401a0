import type {GraphBuilder, Value} from './graph.js'

/** `castTo` of ONNX for unsigned bytes. */
const uint8 = 2
/** The byte that stands for 0. */
const zero = 128
/** Largest magnitude of a row that stands for a row of zeros, which must not be divided by 0. */
const smallest = 1e-30

/** Rows as bytes; `bytes` minus 128, times `scale`, are the rounded values. */
export interface ByteRows {
  bytes: Value
  /** `[..., 1]` */
  scale: Value
}

/** Products of rows, rounded to bytes, with matrices of bytes. A row does not depend on the others. */
export class ByteProducts {
  readonly #graph: GraphBuilder
  readonly #rows = new Map<Value, ByteRows>()

  constructor(graph: GraphBuilder) {
    this.#graph = graph
  }

  /**
   * Rows `[..., n]` as multiples of 1/127 of their largest magnitude; shared by all products with them.
   * @param rank number of dimensions of x, needed if there may be no row: the runtime then reduces no axis that is counted
   *   from the end
   */
  rows(x: Value, rank = 0): ByteRows {
    const graph = this.#graph
    let found = this.#rows.get(x)
    if (found === undefined) {
      const largest = graph.node('ReduceMax', [graph.node('Abs', [x]), graph.integers(rank - 1)])
      const bounded = graph.node('Max', [largest, graph.number(smallest)])
      const scale = graph.node('Mul', [bounded, graph.number(1 / 127)])
      const shifted = graph.node('Add', [graph.node('Div', [x, scale]), graph.number(zero + 0.5)])
      found = {bytes: graph.node('Cast', [shifted], {to: uint8}), scale}
      this.#rows.set(x, found)
    }
    return found
  }

  /** x W for W int8 `[in, out]` with one scale per output `[out]`; see `rows`. */
  multiply(x: Value, columns: Value, scales: Value, rank = 0): Value {
    const {bytes, scale} = this.rows(x, rank)
    const graph = this.#graph
    const inputs = [bytes, columns, graph.number(1), scales, graph.filled('uint8', [], zero)]
    return graph.node('Mul', [graph.contrib('MatMulIntegerToFloat', inputs), scale])
  }
}
