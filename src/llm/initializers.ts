import {relative} from 'node:path'
import {SvcError} from '../errors/index.js'
import type {DataType, GraphBuilder, Value} from '../onnx/index.js'
import {
  type Adapter,
  commonFolder,
  type Dtype,
  type LoraDelta,
  type TensorEntry,
  type TensorMap,
} from '../weights/index.js'
import {weightDtypes} from './spec.js'

const dataTypes: Partial<Record<Dtype, DataType>> = {F32: 'float32', F16: 'float16', BF16: 'bfloat16'}

/** `castTo` of ONNX for 32-bit floats. */
const float32 = 1

/**
 * Adds the tensors of a model and its adapter to a graph as external initialisers, once each. Their shapes are checked
 * against those that the graph needs.
 */
export class Initializers {
  /** Folder that the locations in the graph are relative to. */
  readonly folder: string
  readonly #graph: GraphBuilder
  readonly #tensors: TensorMap
  readonly #deltas: Map<string, LoraDelta>
  readonly #made = new Map<TensorEntry, Value>()

  constructor(graph: GraphBuilder, tensors: TensorMap, adapter: Adapter | undefined) {
    this.#graph = graph
    this.#tensors = tensors
    this.#deltas = new Map(adapter?.deltas.map((delta) => [delta.target, delta]))
    this.folder = commonFolder(
      [...tensors.values(), ...(adapter?.deltas ?? []).flatMap(({a, b}) => [a, b])].map(({file}) => file),
    )
  }

  /** @throws tensor_missing, tensor_shape, tensor_dtype */
  get(name: string, shape: readonly number[]): Value {
    const entry = this.#tensors.get(name)
    if (entry === undefined) {
      const files = [...new Set([...this.#tensors.values()].map(({file}) => file))]
      throw new SvcError('tensor_missing', {tensor: name, files})
    }
    typeOf(entry)
    if (!sameShape(entry.shape, shape))
      throw new SvcError('tensor_shape', {tensor: name, file: entry.file, found: entry.shape, expected: shape})
    return this.#make(name, entry)
  }

  /**
   * The adapter's LoRA pair for a weight `[out, in]`, if there is one; each pair is returned once.
   * @throws adapter_mismatch
   */
  takeDelta(target: string, shape: readonly [number, number]): {a: Value; b: Value; scale: number} | undefined {
    const delta = this.#deltas.get(target)
    if (delta === undefined) return undefined
    this.#deltas.delete(target)
    const {a, b, scale} = delta
    const [rank] = a.shape
    const fits = (entry: TensorEntry, expected: readonly (number | undefined)[]) => {
      if (!sameShape(entry.shape, expected))
        throw new SvcError('adapter_mismatch', {tensor: entry.name, adapter: entry.shape, base: target, found: shape})
    }
    fits(a, [rank, shape[1]])
    fits(b, [shape[0], rank])
    return {a: this.#make(`adapter.${a.name}`, a), b: this.#make(`adapter.${b.name}`, b), scale}
  }

  /** @throws tensor_missing if the adapter changes a weight that the model does not have or use */
  requireAllTaken(): void {
    const [unused] = this.#deltas.values()
    if (unused === undefined) return
    const files = [...new Set([...this.#tensors.values()].map(({file}) => file))]
    throw new SvcError('tensor_missing', {tensor: unused.target, files})
  }

  #make(name: string, entry: TensorEntry): Value {
    let value = this.#made.get(entry)
    if (value === undefined) {
      value = this.#external(name, entry)
      this.#made.set(entry, value)
    }
    return value
  }

  #external(name: string, entry: TensorEntry): Value {
    const {shape, file, offset, length} = entry
    const type = typeOf(entry)
    const value = this.#graph.external(name, type, shape, {location: relative(this.folder, file), offset, length})
    return type === 'float32' ? value : this.#graph.node('Cast', [value], {to: float32})
  }
}

/** @throws tensor_dtype */
function typeOf({name, dtype, file}: TensorEntry): DataType {
  const type = dataTypes[dtype]
  if (type === undefined) throw new SvcError('tensor_dtype', {tensor: name, file, dtype, accepted: weightDtypes})
  return type
}

const sameShape = (a: readonly number[], b: readonly (number | undefined)[]) =>
  a.length === b.length && a.every((dim, i) => dim === b[i])
