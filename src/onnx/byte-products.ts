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

  /** Rows `[..., n]` as multiples of 1/127 of their largest magnitude; shared by all products with them. */
  rows(x: Value): ByteRows {
    const graph = this.#graph
    let found = this.#rows.get(x)
    if (found === undefined) {
      const largest = graph.node('ReduceMax', [graph.node('Abs', [x]), graph.integers(-1)])
      const bounded = graph.node('Max', [largest, graph.number(smallest)])
      const scale = graph.node('Mul', [bounded, graph.number(1 / 127)])
      const shifted = graph.node('Add', [graph.node('Div', [x, scale]), graph.number(zero + 0.5)])
      found = {bytes: graph.node('Cast', [shifted], {to: uint8}), scale}
      this.#rows.set(x, found)
    }
    return found
  }

  /** x W for W int8 `[in, out]` with one scale per output `[out]`. */
  multiply(x: Value, columns: Value, scales: Value): Value {
    const {bytes, scale} = this.rows(x)
    const graph = this.#graph
    const inputs = [bytes, columns, graph.number(1), scales, graph.filled('uint8', [], zero)]
    return graph.node('Mul', [graph.contrib('MatMulIntegerToFloat', inputs), scale])
  }
}
