import {relative} from 'node:path'
import {SvcError} from '../../errors/index.js'
import {ByteProducts, type DataType, type GraphBuilder, type Value} from '../../onnx/index.js'
import {commonFolder, quantizedBlock, type TensorEntry, type TensorMap} from '../../weights/index.js'

const dataTypes: ReadonlyMap<string, DataType> = new Map([
  ['F32', 'float32'],
  ['F16', 'float16'],
  ['BF16', 'bfloat16'],
  ['I8', 'int8'],
  ['U8', 'uint8'],
])

/** `castTo` of ONNX for 32-bit floats. */
const float32 = 1

/** Rows of a matrix, the last one exclusive. */
interface RowRange {
  from: number
  to: number
}

/**
 * The weights of one graph: initializers that stay in their files, and matrix products with them. If a matrix has a
 * quantized version (`NAME.columns` or `NAME.blocks`), the product uses it.
 */
export class GraphWeights {
  /** Directory of the locations in the graph. */
  readonly folder: string
  readonly #graph: GraphBuilder
  readonly #tensors: TensorMap
  readonly #products: ByteProducts
  readonly #made = new Map<string, Value>()

  constructor(graph: GraphBuilder, tensors: TensorMap) {
    this.#graph = graph
    this.#tensors = tensors
    this.#products = new ByteProducts(graph)
    this.folder = commonFolder([...tensors.values()].map(({file}) => file))
  }

  /**
   * A tensor as 32-bit floats.
   * @throws tensor_missing, tensor_shape, tensor_dtype
   */
  get(name: string, shape: readonly number[]): Value {
    const value = this.#external(name, shape)
    const {dtype} = this.#tensors.get(name) as TensorEntry
    return dtype === 'F32' ? value : this.#once(`${name}.float32`, () => this.#cast(value))
  }

  /** x W^T + b for rows x `[n, in]` and W `[out, in]`, as it lies in the file. */
  linear(x: Value, name: string, [out, input]: readonly [number, number], {bias = true} = {}): Value {
    const weight = `${name}.weight`
    const b = bias ? this.get(`${name}.bias`, [out]) : undefined
    if (this.#tensors.has(`${weight}.columns`)) {
      const {columns, scale} = this.#columns(weight, out, input)
      return this.#graph.contrib('DynamicQuantizeMatMul', [x, columns, scale, undefined, b])
    }
    if (this.#tensors.has(`${weight}.blocks`)) {
      const product = this.#blocks(x, weight, out, input)
      return b === undefined ? product : this.#graph.node('Add', [product, b])
    }
    return this.#graph.node(
      'Gemm',
      b === undefined ? [x, this.get(weight, [out, input])] : [x, this.get(weight, [out, input]), b],
      {
        transB: 1,
      },
    )
  }

  /** x E^T for the first rows of the embedding matrix E `[vocabulary, size]`, which gives their logits. */
  logits(x: Value, weight: string, [out, input]: readonly [number, number], rows: number): Value {
    if (this.#tensors.has(`${weight}.blocks`)) return this.#blocks(x, weight, out, input, rows)
    if (this.#tensors.has(`${weight}.columns`)) {
      const {columns, scale} = this.#columns(weight, out, input)
      const all = this.#products.multiply(x, columns, scale)
      return this.#graph.node('Slice', [all, ...[0, rows, 1].map((value) => this.#graph.integers(value))])
    }
    return this.#product(x, weight, [out, input], {from: 0, to: rows})
  }

  /** The same for the rows from `from` on, as the checkpoint has them. */
  exactLogits(x: Value, weight: string, [out, input]: readonly [number, number], from: number): Value {
    return this.#product(x, weight, [out, input], {from, to: out})
  }

  /** Rows of a matrix of the checkpoint as 32-bit floats: those of `ids` `[..., n]`, as `[..., n, size]`. */
  rows(weight: string, shape: readonly [number, number], ids: Value): Value {
    const value = this.#external(weight, shape)
    const found = this.#graph.node('Gather', [value, ids], {axis: 0})
    return this.#tensors.get(weight)?.dtype === 'F32' ? found : this.#cast(found)
  }

  #product(x: Value, weight: string, shape: readonly [number, number], rows: RowRange): Value {
    const value = this.#external(weight, shape, rows)
    const isFloat = this.#tensors.get(weight)?.dtype === 'F32'
    const floats = isFloat ? value : this.#once(`${value}.float32`, () => this.#cast(value))
    return this.#graph.node('Gemm', [x, floats], {transB: 1})
  }

  #columns(weight: string, out: number, input: number): {columns: Value; scale: Value} {
    return {
      columns: this.#external(`${weight}.columns`, [input, out]),
      scale: this.#external(`${weight}.columns_scale`, [out]),
    }
  }

  #blocks(x: Value, weight: string, out: number, input: number, rows = out): Value {
    const size = this.#tensors.get(`${weight}.blocks`)?.shape[2] ?? quantizedBlock
    const blocks = Math.ceil(input / size)
    const w = this.#external(`${weight}.blocks`, [out, blocks, size], {from: 0, to: rows})
    const scales = this.#external(`${weight}.blocks_scale`, [out * blocks], {from: 0, to: rows * blocks})
    const attributes = {K: input, N: rows, bits: 8, block_size: size, accuracy_level: 4}
    return this.#graph.contrib('MatMulNBits', [x, w, scales], attributes)
  }

  /** @param rows part of the first dimension; default: all of it */
  #external(name: string, shape: readonly number[], rows?: RowRange): Value {
    const entry = this.#tensors.get(name)
    if (entry === undefined) {
      const files = [...new Set([...this.#tensors.values()].map(({file}) => file))]
      throw new SvcError('tensor_missing', {tensor: name, files})
    }
    const {file, dtype, offset, length} = entry
    const type = dataTypes.get(dtype)
    if (type === undefined)
      throw new SvcError('tensor_dtype', {tensor: name, file, dtype, accepted: [...dataTypes.keys()]})
    if (entry.shape.length !== shape.length || entry.shape.some((dim, i) => dim !== shape[i]))
      throw new SvcError('tensor_shape', {tensor: name, file, found: entry.shape, expected: shape})
    const [size = 1, ...others] = shape
    const {from, to} = rows ?? {from: 0, to: size}
    const rowBytes = length / size
    const part = from === 0 && to === size ? name : `${name}.${from}-${to}`
    return this.#once(part, () =>
      this.#graph.external(part, type, [to - from, ...others], {
        location: relative(this.folder, file),
        offset: offset + from * rowBytes,
        length: (to - from) * rowBytes,
      }),
    )
  }

  #cast(value: Value): Value {
    return this.#graph.node('Cast', [value], {to: float32})
  }

  #once(name: string, make: () => Value): Value {
    const value = this.#made.get(name) ?? make()
    this.#made.set(name, value)
    return value
  }
}
