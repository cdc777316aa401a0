import {relative} from 'node:path'
import {SvcError} from '../errors/index.js'
import {ByteProducts, type DataType, type GraphBuilder, type Value} from '../onnx/index.js'
import {
  commonFolder,
  elements,
  isBlockEntry,
  orderedSizes,
  type StoredOrder,
  type TensorEntry,
  type TensorMap,
} from '../weights/index.js'
import {weightDtypes} from './spec.js'

const dataTypes: ReadonlyMap<string, DataType> = new Map([
  ['F32', 'float32'],
  ['F16', 'float16'],
  ['BF16', 'bfloat16'],
])
/** Types of quantised copies. */
const quantizedTypes: ReadonlyMap<string, DataType> = new Map([
  ['F32', 'float32'],
  ['I8', 'int8'],
  ['U8', 'uint8'],
])

/** Ends of the names of quantised copies. */
const quantizedKinds = ['columns', 'blocks', 'nibbles']

/** `castTo` of ONNX for 32-bit floats. */
const float32 = 1
/** Zero of blocks. */
const zero = 128

/**
 * Adds the tensors of a model to a graph as external initialisers, once each. Their shapes are checked against those that
 * the graph needs.
 */
export class Initializers {
  /** Folder that the locations in the graph are relative to. */
  readonly folder: string
  readonly #graph: GraphBuilder
  readonly #tensors: TensorMap
  readonly #made = new Map<TensorEntry, Value>()
  readonly #externals = new Map<string, Value>()
  readonly #products: ByteProducts

  constructor(graph: GraphBuilder, tensors: TensorMap) {
    this.#graph = graph
    this.#products = new ByteProducts(graph)
    this.#tensors = tensors
    this.folder = commonFolder([...tensors.values()].map(({file}) => file))
  }

  /** A tensor as 32-bit floats. @throws tensor_missing, tensor_shape, tensor_dtype */
  get(name: string, shape: readonly number[]): Value {
    const entry = this.#find(name, shape)
    const stored = this.#tensors.get(`${name}.stored`)
    if (stored === undefined) return this.#make(name, entry)
    return this.#once(entry, () => this.#weightsOf(this.#copy(stored), stored, undefined, shape))
  }

  /**
   * x W^T with W `[out, in]` as in the shard, or its quantised copy if there is one.
   * @param rank number of dimensions of x; with 2, there may be no row
   * @throws tensor_missing, tensor_shape, tensor_dtype
   */
  multiply(x: Value, name: string, shape: readonly [out: number, input: number], rank: 2 | 3 = 3): Value {
    this.#find(name, shape)
    const columns = this.#tensors.get(`${name}.columns`)
    if (columns !== undefined) return this.#multiplyColumns(x, columns, rank)
    const blocks = this.#tensors.get(`${name}.blocks`)
    if (blocks !== undefined) return this.#multiplyBlocks(x, blocks, 8, shape, rank)
    const nibbles = this.#tensors.get(`${name}.nibbles`)
    if (nibbles !== undefined) return this.#multiplyBlocks(x, nibbles, 4, shape, rank)
    return this.#graph.contrib('FusedMatMul', [x, this.get(name, shape)], {transB: 1})
  }

  /**
   * Rows of a matrix by index, as 32-bit floats. Reads them from its quantised copy if there is one. Only the rows of a
   * matrix of 16-bit floats are widened.
   * @throws tensor_missing, tensor_shape, tensor_dtype
   */
  rows(indexes: Value, name: string, shape: readonly [rows: number, size: number]): Value {
    const graph = this.#graph
    const entry = this.#find(name, shape)
    const blocks = this.#blocksOf(name)
    if (blocks !== undefined) return this.#rowsOfBlocks(indexes, blocks, shape)
    const found = graph.node('Gather', [this.#external(`${name}.rows`, entry, typeOf(entry)), indexes], {axis: 0})
    return entry.dtype === 'F32' ? found : graph.node('Cast', [found], {to: float32})
  }

  /**
   * Products of rows of x with some rows of W `[out, in]` as in the shard, if `multiply` uses its quantised copy.
   * @param x `[rows, in]`
   * @param indexes of rows of W, `[rows, count]`
   * @returns `[rows, count]`
   */
  multiplyExactly(x: Value, name: string, indexes: Value): Value | undefined {
    const graph = this.#graph
    const entry = this.#tensors.get(name)
    if (entry === undefined || !quantizedKinds.some((kind) => this.#tensors.has(`${name}.${kind}`))) return undefined
    const rows = this.#exactRows(indexes, name, entry)
    const product = graph.node('MatMul', [rows, graph.node('Unsqueeze', [x, graph.integers(2)])])
    return graph.node('Squeeze', [product, graph.integers(2)])
  }

  #exactRows(indexes: Value, name: string, entry: TensorEntry): Value {
    const graph = this.#graph
    const [rows = 0, size = 0] = entry.shape
    const blocks = isBlockEntry(entry) ? this.#blocksOf(name) : undefined
    if (blocks !== undefined) return this.#rowsOfBlocks(indexes, blocks, [rows, size])
    const found = graph.node('Gather', [this.#external(`${name}.exact`, entry, typeOf(entry)), indexes], {axis: 0})
    return entry.dtype === 'F32' ? found : graph.node('Cast', [found], {to: float32})
  }

  #find(name: string, shape: readonly number[]): TensorEntry {
    const entry = this.#tensors.get(name)
    if (entry === undefined) {
      const files = [...new Set([...this.#tensors.values()].map(({file}) => file))]
      throw new SvcError('tensor_missing', {tensor: name, files})
    }
    if (!isBlockEntry(entry)) typeOf(entry)
    if (!sameShape(entry.shape, shape))
      throw new SvcError('tensor_shape', {tensor: name, file: entry.file, found: entry.shape, expected: shape})
    return entry
  }

  #make(name: string, entry: TensorEntry): Value {
    const type = typeOf(entry)
    return this.#once(entry, () => {
      const value = this.#external(name, entry, type)
      return this.#asPublished(entry, type === 'float32' ? value : this.#graph.node('Cast', [value], {to: float32}))
    })
  }

  /** The values as transformers has them. The session computes this once, when it is opened. */
  #asPublished({order, surplus, isNegativeExp, shape}: TensorEntry, value: Value): Value {
    const graph = this.#graph
    const ordered = order === undefined ? value : this.#ordered(value, shape, order)
    if (isNegativeExp) return graph.node('Log', [graph.node('Neg', [ordered])])
    return surplus === undefined ? ordered : graph.node('Sub', [ordered, graph.number(surplus)])
  }

  #ordered(value: Value, shape: readonly number[], order: StoredOrder): Value {
    const graph = this.#graph
    const {start, outer, inner, unit} = orderedSizes(order, elements(shape.slice(1)))
    const flat = graph.node('Reshape', [value, graph.integers(-1)])
    const parts = graph.several('Split', [flat, graph.integers(start, elements(shape) - start)], 2, {axis: 0})
    const [before, runs] = parts as [Value, Value]
    const split = graph.node('Reshape', [runs, graph.integers(-1, outer, inner, unit)])
    const turned = graph.node('Transpose', [split], {perm: [0n, 2n, 1n, 3n]})
    const all = graph.node('Concat', [before, graph.node('Reshape', [turned, graph.integers(-1)])], {axis: 0})
    return graph.node('Reshape', [all, graph.integers(...shape)])
  }

  #once(entry: TensorEntry, make: () => Value): Value {
    const value = this.#made.get(entry) ?? make()
    this.#made.set(entry, value)
    return value
  }

  #external(name: string, {shape, file, offset, length}: TensorEntry, type: DataType, dims = shape): Value {
    return this.#graph.external(name, type, dims, {location: relative(this.folder, file), offset, length})
  }

  /** A tensor of a quantised copy. */
  #copy(entry: TensorEntry): Value {
    return this.#once(entry, () => this.#external(entry.name, entry, quantizedTypes.get(entry.dtype) as DataType))
  }

  #scaleOf({name}: TensorEntry): TensorEntry {
    return this.#tensors.get(`${name}_scale`) as TensorEntry
  }

  #multiplyColumns(x: Value, columns: TensorEntry, rank: 2 | 3): Value {
    return this.#products.multiply(x, this.#copy(columns), this.#copy(this.#scaleOf(columns)), rank)
  }

  /** The integers of 8 bits of a matrix, for products or for 32-bit floats. */
  #blocksOf(name: string): TensorEntry | undefined {
    return this.#tensors.get(`${name}.blocks`) ?? this.#tensors.get(`${name}.stored`)
  }

  #multiplyBlocks(
    x: Value,
    blocks: TensorEntry,
    bits: 4 | 8,
    [out, input]: readonly [number, number],
    rank: 2 | 3,
  ): Value {
    const graph = this.#graph
    const size = ((blocks.shape[2] ?? 0) * 8) / bits
    const attributes = {K: input, N: out, bits, block_size: size, accuracy_level: 4}
    const scales = this.#copy(this.#scaleOf(blocks))
    const product = graph.contrib('MatMulNBits', [x, this.#copy(blocks), scales], attributes)
    const offsets = this.#tensors.get(`${blocks.name}_offset`)
    if (offsets === undefined) return product
    // An offset is added to each weight of a block, so it is multiplied by the sum of the inputs of the block.
    const count = input / size
    const parts = graph.node('Reshape', [x, graph.integers(...(rank === 2 ? [0] : [0, 0]), count, size)])
    // Of no rows, the runtime reduces no axis that is counted from the end.
    const sums = graph.node('ReduceSum', [parts, graph.integers(rank)], {keepdims: 0})
    const added = this.#external(offsets.name, offsets, 'float32', [out, count])
    return graph.node('Add', [product, graph.contrib('FusedMatMul', [sums, added], {transB: 1})])
  }

  #rowsOfBlocks(indexes: Value, blocks: TensorEntry, [rows, size]: readonly [number, number]): Value {
    const found = this.#graph.node('Gather', [this.#copy(blocks), indexes], {axis: 0})
    return this.#weightsOf(found, blocks, indexes, [rows, size])
  }

  /**
   * The weights that integers stand for.
   * @param values of complete rows of blocks
   * @param indexes of the rows; undefined for all of them
   * @param shape of the matrix
   */
  #weightsOf(values: Value, blocks: TensorEntry, indexes: Value | undefined, shape: readonly number[]): Value {
    const graph = this.#graph
    const [rows = 0, size = 0] = shape
    const count = size / (blocks.shape[2] ?? size)
    const factors = (entry: TensorEntry) => {
      const name = `${entry.name}.rows`
      const all = this.#externals.get(name) ?? this.#external(name, entry, 'float32', [rows, count, 1])
      this.#externals.set(name, all)
      return indexes === undefined ? all : graph.node('Gather', [all, indexes], {axis: 0})
    }
    const centred = graph.node('Sub', [graph.node('Cast', [values], {to: float32}), graph.number(zero)])
    const scaled = graph.node('Mul', [centred, factors(this.#scaleOf(blocks))])
    const offsets = this.#tensors.get(`${blocks.name}_offset`)
    const weights = offsets === undefined ? scaled : graph.node('Add', [scaled, factors(offsets)])
    return graph.node('Reshape', [weights, graph.integers(...(indexes === undefined ? [rows] : [0, 0]), size)])
  }
}

/** @throws tensor_dtype */
function typeOf({name, dtype, file}: TensorEntry): DataType {
  const type = dataTypes.get(dtype)
  if (type === undefined) throw new SvcError('tensor_dtype', {tensor: name, file, dtype, accepted: weightDtypes})
  return type
}

const sameShape = (a: readonly number[], b: readonly (number | undefined)[]) =>
  a.length === b.length && a.every((dim, i) => dim === b[i])
