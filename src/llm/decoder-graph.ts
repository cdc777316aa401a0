import {relative} from 'node:path'
import {SvcError} from '../errors/index.js'
import {type DataType, GraphBuilder, type Value} from '../onnx/index.js'
import {commonFolder, type Dtype, type TensorEntry} from '../weights/index.js'
import {type AttentionSpec, type DecoderSpec, type LayerSpec, type RopeSpec, weightDtypes} from './spec.js'

/** A decoder as a serialised graph whose weights stay in their shards. */
export interface DecoderGraph {
  model: Uint8Array
  /** Folder that the shards' locations in the graph are relative to. */
  externalFolder: string
}

const dataTypes: Partial<Record<Dtype, DataType>> = {F32: 'float32', F16: 'float16', BF16: 'bfloat16'}

/**
 * Builds the graph of a decoder.
 *
 * Inputs: `tokens` and `positions` int64 `[batch, time]`; `last_index` int32 `[batch]`, position of each row's last
 * token; `total_length` int32 `[1]`, the longest row with its past; `logit_rows` int64 `[rows]`, which of the
 * `batch * time` hidden states get logits; `past_key.N`, `past_value.N` `[batch, kv_heads, capacity, head_dim]`.
 * Outputs: `logits` `[rows, vocabulary]`; `present_key.N`, `present_value.N`, which may be the same memory as the past.
 *
 * @param contextLength positions that get rotary angles
 * @throws tensor_missing, tensor_shape, tensor_dtype
 */
export function buildDecoderGraph(
  spec: DecoderSpec,
  tensors: ReadonlyMap<string, TensorEntry>,
  contextLength: number,
): DecoderGraph {
  const graph = new GraphBuilder('decoder')
  const weights = new Weights(graph, tensors)
  const {hiddenSize, vocabSize, normEps} = spec
  const inputs = {
    positions: graph.input('positions', 'int64', ['batch', 'time']),
    lastIndex: graph.input('last_index', 'int32', ['batch']),
    totalLength: graph.input('total_length', 'int32', [1]),
  }
  const tokens = graph.input('tokens', 'int64', ['batch', 'time'])
  const logitRows = graph.input('logit_rows', 'int64', ['rows'])
  const rope = rotaryTables(graph, contextLength)

  const norm = (x: Value, name: string) =>
    graph.node('SimplifiedLayerNormalization', [x, weights.get(name, [hiddenSize])], {
      axis: -1,
      epsilon: {float: normEps},
    })

  let hidden = graph.node('Gather', [weights.get(spec.tensors.embedding, [vocabSize, hiddenSize]), tokens], {axis: 0})
  for (const [i, layer] of spec.layers.entries()) {
    const {attention, mlp} = layer
    const attended = attend(graph, weights, attention, i, norm(hidden, attention.names.norm), hiddenSize, inputs, rope)
    hidden = graph.node('Add', [hidden, attended])
    hidden = graph.node('Add', [hidden, swiglu(graph, weights, mlp, norm(hidden, mlp.names.norm), hiddenSize)])
  }
  const rows = graph.node('Reshape', [hidden, graph.constant('rows_shape', 'int64', [2], int64(-1, hiddenSize))])
  const wanted = graph.node('Gather', [rows, logitRows], {axis: 0})
  const head = weights.get(spec.tensors.head, [vocabSize, hiddenSize])
  graph.output('logits', linear(graph, norm(wanted, spec.tensors.norm), head), 'float32', ['rows', vocabSize])
  return {model: graph.build(), externalFolder: weights.folder}
}

interface SequenceInputs {
  positions: Value
  lastIndex: Value
  totalLength: Value
}

/** Grouped-query attention with rotary positions and a cache. */
function attend(
  graph: GraphBuilder,
  weights: Weights,
  {heads, kvHeads, headDim, rope: ropeSpec, names}: AttentionSpec,
  layer: number,
  x: Value,
  hiddenSize: number,
  {positions, lastIndex, totalLength}: SequenceInputs,
  rope: RotaryTables,
): Value {
  const project = (name: string, count: number) => linear(graph, x, weights.get(name, [count * headDim, hiddenSize]))
  const {cos, sin} = rope(ropeSpec, headDim)
  const rotate = (value: Value, count: number) =>
    graph.contrib('RotaryEmbedding', [value, positions, cos, sin], {interleaved: 0, num_heads: count})
  const cache = (name: string) => graph.input(`${name}.${layer}`, 'float32', ['batch', kvHeads, 'capacity', headDim])

  const q = rotate(project(names.q, heads), heads)
  const k = rotate(project(names.k, kvHeads), kvHeads)
  const v = project(names.v, kvHeads)
  const [context, key, value] = graph.contribOutputs(
    'GroupQueryAttention',
    [q, k, v, cache('past_key'), cache('past_value'), lastIndex, totalLength],
    [true, `present_key.${layer}`, `present_value.${layer}`],
    {num_heads: heads, kv_num_heads: kvHeads},
  )
  graph.output(`present_key.${layer}`, key, 'float32', ['batch', kvHeads, 'capacity', headDim])
  graph.output(`present_value.${layer}`, value, 'float32', ['batch', kvHeads, 'capacity', headDim])
  return linear(graph, context, weights.get(names.o, [hiddenSize, heads * headDim]))
}

/** down(silu(gate(x)) * up(x)). Source: Shazeer 2020. */
function swiglu(
  graph: GraphBuilder,
  weights: Weights,
  {intermediateSize, names}: LayerSpec['mlp'],
  x: Value,
  hiddenSize: number,
): Value {
  const gate = linear(graph, x, weights.get(names.gate, [intermediateSize, hiddenSize]))
  const up = linear(graph, x, weights.get(names.up, [intermediateSize, hiddenSize]))
  // QuickGelu with alpha 1 is x * sigmoid(x), in one node.
  const activated = graph.contrib('QuickGelu', [gate], {alpha: {float: 1}})
  const down = weights.get(names.down, [hiddenSize, intermediateSize])
  return linear(graph, graph.node('Mul', [activated, up]), down)
}

/** x W^T, with W `[out, in]` as it lies in the shard. */
const linear = (graph: GraphBuilder, x: Value, weight: Value): Value =>
  graph.contrib('FusedMatMul', [x, weight], {transB: 1})

type RotaryTables = (rope: RopeSpec, headDim: number) => {cos: Value; sin: Value}

/** Tables of cos and sin, `[contextLength, headDim / 2]`, made once for each kind of rope. */
function rotaryTables(graph: GraphBuilder, contextLength: number): RotaryTables {
  const made = new Map<string, {cos: Value; sin: Value}>()
  return ({theta}, headDim) => {
    const key = `${theta}.${headDim}`
    let tables = made.get(key)
    if (tables === undefined) {
      const pairs = headDim / 2
      const angle = (i: number) => Math.floor(i / pairs) * theta ** (-(2 * (i % pairs)) / headDim)
      const table = (name: string, of: (angle: number) => number) => {
        const data = Float32Array.from({length: contextLength * pairs}, (_, i) => of(angle(i)))
        return graph.constant(`${name}.${key}`, 'float32', [contextLength, pairs], data)
      }
      tables = {cos: table('rope_cos', Math.cos), sin: table('rope_sin', Math.sin)}
      made.set(key, tables)
    }
    return tables
  }
}

const int64 = (...values: number[]) => BigInt64Array.from(values, BigInt)

/** The model's tensors as initialisers: each is checked against the shape the graph needs, and made once. */
class Weights {
  readonly folder: string
  readonly #graph: GraphBuilder
  readonly #tensors: ReadonlyMap<string, TensorEntry>
  readonly #files: readonly string[]
  readonly #made = new Map<string, Value>()

  constructor(graph: GraphBuilder, tensors: ReadonlyMap<string, TensorEntry>) {
    this.#graph = graph
    this.#tensors = tensors
    this.#files = [...new Set([...tensors.values()].map(({file}) => file))]
    this.folder = commonFolder(this.#files)
  }

  get(name: string, shape: readonly number[]): Value {
    let value = this.#made.get(name)
    if (value === undefined) {
      value = this.#make(name, shape)
      this.#made.set(name, value)
    }
    return value
  }

  #make(name: string, expected: readonly number[]): Value {
    const entry = this.#tensors.get(name)
    if (entry === undefined) throw new SvcError('tensor_missing', {tensor: name, files: this.#files})
    const {dtype, shape, file, offset, length} = entry
    const type = dataTypes[dtype]
    if (type === undefined) throw new SvcError('tensor_dtype', {tensor: name, file, dtype, accepted: weightDtypes})
    if (shape.length !== expected.length || shape.some((dim, i) => dim !== expected[i]))
      throw new SvcError('tensor_shape', {tensor: name, file, found: shape, expected})
    const value = this.#graph.external(name, type, shape, {location: relative(this.folder, file), offset, length})
    return type === 'float32' ? value : this.#graph.node('Cast', [value], {to: 1})
  }
}
