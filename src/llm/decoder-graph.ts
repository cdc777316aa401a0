import {type Attributes, GraphBuilder, type Value} from '../onnx/index.js'
import {type TensorMap, withParts} from '../weights/index.js'
import {AdapterBranches} from './adapters/adapter-branches.js'
import {Initializers} from './initializers.js'
import type {BlockContext} from './recurrent/block.js'
import {buildRecurrent, type RecurrentSpec} from './recurrent/index.js'
import {queryFactor, rotaryFrequencies} from './rope.js'
import {
  type Activation,
  type AttentionSpec,
  type DecoderSpec,
  type ExpertNames,
  type LayerSpec,
  type MlpSpec,
  type NormNames,
  queryRows,
  type RopeSpec,
  type RoutingSpec,
} from './spec.js'

/** A serialised decoder graph with external weights. */
export interface DecoderGraph {
  model: Uint8Array
  /** Folder of the relative locations in the graph. */
  externalFolder: string
}

/**
 * Builds the graph of a decoder.
 *
 * Inputs:
 *
 * - `tokens` and `positions` int64 `[batch, time]`
 * - `last_index` int32 `[batch]`, position of each row's last token
 * - `total_length` int32 `[1]`, length of the longest row including its past
 * - `logit_rows` int64 `[rows]`, indexes of the `batch * time` hidden states to compute logits for
 * - `past_key.N`, `past_value.N` `[batch, kv_heads, capacity, head_dim]` of attention
 * - `past_state.N.NAME` `[batch, ...shape]` of recurrent layers
 * - with adapters, those of `AdapterBranches`
 *
 * Outputs, to run in place:
 *
 * - `logits` `[rows, vocabulary]`
 * - `top_ids` int64 and `top_logits` `[rows, count]`, the most likely tokens
 * - `log_total` `[rows, 1]`, log-sum-exp of the logits
 * - `present_key.N`, `present_value.N`, `present_state.N.NAME`, which may share memory with the past
 *
 * With a quantised head, the logits and their total are approximate, and those of the most likely tokens are exact.
 *
 * @param contextLength number of positions in the rotary tables
 * @param adapters whether sequences can have adapters
 * @throws tensor_missing, tensor_shape, tensor_dtype
 */
export function buildDecoderGraph(
  spec: DecoderSpec,
  tensors: TensorMap,
  contextLength: number,
  adapters = false,
): DecoderGraph {
  const graph = new GraphBuilder('decoder')
  const weights = new Initializers(graph, withParts(tensors, spec.fused))
  const tokens = graph.input('tokens', 'int64', ['batch', 'time'])
  const logitRows = graph.input('logit_rows', 'int64', ['rows'])
  const branches = adapters ? new AdapterBranches(graph, spec) : undefined
  const layers = new LayerBuilder(graph, weights, spec, contextLength, branches)

  const {hiddenSize, vocabSize} = spec
  const embedded = weights.rows(tokens, spec.tensors.embedding, [vocabSize, hiddenSize])
  let hidden = scaled(graph, embedded, spec.embeddingScale)
  for (const [i, layer] of spec.layers.entries()) {
    hidden = layers.residual(hidden, (layer.attention ?? layer.recurrent).names, (x) => layers.mix(layer, i, x))
    hidden = layers.residual(hidden, layer.mlp.names, (x) => layers.feedForward(layer.mlp, x))
  }
  const rows = graph.node('Reshape', [hidden, graph.integers(-1, hiddenSize)])
  const last = layers.norm(graph.node('Gather', [rows, logitRows], {axis: 0}), spec.tensors.norm)
  const selected = scaled(graph, last, spec.logitScale)
  const {logits: unlimited, ofWeights} = layers.head(selected)
  const logits = limited(graph, unlimited, spec.logitCap)
  graph.output('logits', logits, 'float32', ['rows', vocabSize])
  const top = topOf(graph, logits, topCount(spec))
  const exact = weights.multiplyExactly(selected, spec.tensors.head, top.ids)
  // The parts of the adapters in the logits stay as they are.
  const ofTop = (all: Value) => graph.node('GatherElements', [all, top.ids], {axis: -1})
  const rest = () => graph.node('Sub', [ofTop(unlimited), ofTop(ofWeights)])
  const unlimitedTop = ofWeights === unlimited ? exact : exact && graph.node('Add', [exact, rest()])
  const topLogits = unlimitedTop && limited(graph, unlimitedTop, spec.logitCap)
  graph.output('top_ids', top.ids, 'int64', ['rows', topCount(spec)])
  graph.output('top_logits', topLogits ?? top.logits, 'float32', ['rows', topCount(spec)])
  const logTotal = topLogits === undefined ? top.logTotal : corrected(graph, top, topLogits)
  graph.output('log_total', logTotal, 'float32', ['rows', 1])
  return {model: graph.build({inPlace: true}), externalFolder: weights.folder}
}

/** Number of most likely tokens that a run returns: enough for the samplers and log-probabilities in use. */
export const topCount = ({vocabSize}: DecoderSpec): number => Math.min(64, vocabSize)

const scaled = (graph: GraphBuilder, x: Value, factor: number): Value =>
  factor === 1 ? x : graph.node('Mul', [x, graph.number(factor)])

/** cap * tanh(x / cap). */
const limited = (graph: GraphBuilder, x: Value, cap: number | undefined): Value =>
  cap === undefined ? x : scaled(graph, graph.node('Tanh', [scaled(graph, x, 1 / cap)]), cap)

interface Top {
  ids: Value
  logits: Value
  logTotal: Value
}

/** Log-sum-exp with other logits of the most likely tokens, so that no probability exceeds 1. */
function corrected(graph: GraphBuilder, {logits, logTotal}: Top, others: Value): Value {
  const part = (of: Value) =>
    graph.node('ReduceSum', [graph.node('Exp', [graph.node('Sub', [of, logTotal])]), graph.integers(-1)], {keepdims: 1})
  const one = graph.constant('one', 'float32', [], Float32Array.of(1))
  // Rounded, the part of the most likely tokens may exceed 1.
  const rest = graph.node('Relu', [graph.node('Sub', [one, part(logits)])])
  return graph.node('Add', [logTotal, graph.node('Log', [graph.node('Add', [rest, part(others)])])])
}

/**
 * The largest logits of each row, largest first, lower ids first on ties, and the log-sum-exp of all of them: the
 * difference of a logit and its log-probability. LogSoftmax is ten times as fast as ReduceLogSumExp.
 */
function topOf(graph: GraphBuilder, logits: Value, count: number): Top {
  const [values, ids] = graph.pair('TopK', [logits, graph.integers(count)], {axis: -1, largest: 1, sorted: 1})
  const first = (of: Value) => graph.node('Gather', [of, graph.integers(0)], {axis: 1})
  const logprobs = graph.node('LogSoftmax', [logits], {axis: -1})
  const likeliest = graph.node('GatherElements', [logprobs, first(ids)], {axis: -1})
  return {logits: values, ids, logTotal: graph.node('Sub', [first(values), likeliest])}
}

/** Operators of ONNX Runtime. QuickGelu with alpha 1 computes x * sigmoid(x) in one node. */
const activations: Readonly<Record<Activation, {op: string; attributes?: Attributes}>> = {
  silu: {op: 'QuickGelu', attributes: {alpha: {float: 1}}},
  gelu: {op: 'Gelu'},
  'gelu-tanh': {op: 'FastGelu'},
}

const flat = (graph: GraphBuilder): Value => graph.integers(-1)

/** What an expert computes: all positions `[batch, time, n]`, or routed to it, the rows of its own `[rows, n]`. */
interface Rows {
  value: Value
  isRouted: boolean
}

/** Adds the parts of a layer to a graph. */
class LayerBuilder {
  readonly #graph: GraphBuilder
  readonly #weights: Initializers
  readonly #spec: DecoderSpec
  readonly #contextLength: number
  readonly #adapters: AdapterBranches | undefined
  readonly #sequence: {positions: Value; lastIndex: Value; totalLength: Value}
  readonly #rotary = new Map<string, {cos: Value; sin: Value}>()

  constructor(
    graph: GraphBuilder,
    weights: Initializers,
    spec: DecoderSpec,
    contextLength: number,
    adapters: AdapterBranches | undefined,
  ) {
    this.#graph = graph
    this.#weights = weights
    this.#spec = spec
    this.#contextLength = contextLength
    this.#adapters = adapters
    this.#sequence = {
      positions: graph.input('positions', 'int64', ['batch', 'time']),
      lastIndex: graph.input('last_index', 'int32', ['batch']),
      totalLength: graph.input('total_length', 'int32', [1]),
    }
  }

  norm(x: Value, name: string, size = this.#spec.hiddenSize): Value {
    const graph = this.#graph
    const {normEps, normOffset} = this.#spec
    const stored = this.#weights.get(name, [size])
    // The session computes the sum once, when it is opened.
    const weight = normOffset === 0 ? stored : graph.node('Add', [stored, graph.number(normOffset)])
    return graph.node('SimplifiedLayerNormalization', [x, weight], {axis: -1, epsilon: {float: normEps}})
  }

  /** x + residualScale * postNorm(part(norm(x))). */
  residual(x: Value, {norm, postNorm}: NormNames, part: (normed: Value) => Value): Value {
    const change = part(norm === undefined ? x : this.norm(x, norm))
    const normed = postNorm === undefined ? change : this.norm(change, postNorm)
    return this.#graph.node('Add', [x, scaled(this.#graph, normed, this.#spec.residualScale)])
  }

  /** Attention, or what a recurrent layer has instead. */
  mix({attention, recurrent}: LayerSpec, layer: number, x: Value): Value {
    return attention === undefined ? this.#recur(recurrent, layer, x) : this.#attend(attention, layer, x)
  }

  #recur(recurrent: RecurrentSpec, layer: number, x: Value): Value {
    const states = recurrent.states.map(({name, shape}) => ({
      past: this.#graph.input(`past_state.${layer}.${name}`, 'float32', ['batch', ...shape]),
      present: `present_state.${layer}.${name}`,
    }))
    const context: BlockContext = {
      graph: this.#graph,
      weight: (name, shape) => this.#weights.get(name, shape),
      project: (value, {role, name, shape}) => this.#linear(value, role, name, shape),
    }
    return buildRecurrent(context, recurrent, x, states)
  }

  /** Grouped-query attention with rotary embedding and KV cache. */
  #attend(attention: AttentionSpec, layer: number, x: Value): Value {
    const graph = this.#graph
    const {hiddenSize} = this.#spec
    const {heads, kvHeads, headDim, isGated, rope, scale, cap, window, names, biases, headNorms} = attention
    const project = (which: 'q' | 'k' | 'v', rows: number) =>
      this.#biased(
        this.#linear(x, which, names[which], [rows, hiddenSize]),
        biases.includes(which) ? names[which] : undefined,
        rows,
      )
    const normed = (value: Value, which: 'q' | 'k', count: number) => {
      if (headNorms === undefined) return value
      if (headNorms.span === 'all') return this.norm(value, headNorms[which], count * headDim)
      return this.#normHeads(value, headNorms[which], count, headDim)
    }
    const rotated = (which: 'q' | 'k', projected: Value, count: number) => {
      const value = normed(projected, which, count)
      return rope === undefined ? value : this.#rotate(value, which, count, headDim, rope)
    }
    const cache = (name: string) => graph.input(`${name}.${layer}`, 'float32', dims)
    const dims = ['batch', kvHeads, 'capacity', headDim]

    const queries = project('q', queryRows(attention))
    const [query, gate] = isGated ? this.#halves(queries, heads, headDim) : [queries, undefined]
    const q = rotated('q', query, heads)
    const k = rotated('k', project('k', kvHeads * headDim), kvHeads)
    const v = project('v', kvHeads * headDim)
    const {lastIndex, totalLength} = this.#sequence
    const [context, key, value] = graph.contribOutputs(
      'GroupQueryAttention',
      [q, k, v, cache('past_key'), cache('past_value'), lastIndex, totalLength],
      [true, `present_key.${layer}`, `present_value.${layer}`],
      {
        num_heads: heads,
        kv_num_heads: kvHeads,
        ...(window === undefined ? {} : {local_window_size: window}),
        ...(scale === undefined ? {} : {scale: {float: scale}}),
        ...(cap === undefined ? {} : {softcap: {float: cap}}),
      },
    )
    graph.output(`present_key.${layer}`, key, 'float32', dims)
    graph.output(`present_value.${layer}`, value, 'float32', dims)
    const gated = gate === undefined ? context : graph.node('Mul', [context, graph.node('Sigmoid', [gate])])
    const out = this.#linear(gated, 'o', names.o, [hiddenSize, heads * headDim])
    return this.#biased(out, biases.includes('o') ? names.o : undefined, hiddenSize)
  }

  feedForward(mlp: MlpSpec, x: Value): Value {
    const [only] = mlp.experts
    if (mlp.routing !== undefined) return this.#routed(mlp, mlp.routing, x)
    return this.#expert(mlp, only as ExpertNames, {value: x, isRouted: false})
  }

  /** down(activation(gate(x)) * up(x)). Source: Shazeer 2020. */
  #expert({intermediateSize, activation}: MlpSpec, {gate, up, down}: ExpertNames, x: Rows): Value {
    const {hiddenSize} = this.#spec
    const into = (role: 'gate' | 'up', name: string) => this.#part(x, role, name, [intermediateSize, hiddenSize])
    const {op, attributes} = activations[activation]
    const product = this.#graph.node('Mul', [this.#graph.contrib(op, [into('gate', gate)], attributes), into('up', up)])
    return this.#part({...x, value: product}, 'down', down, [hiddenSize, intermediateSize])
  }

  /** A projection of an expert; those of routed experts have no adapters. */
  #part({value, isRouted}: Rows, role: string, name: string, shape: readonly [number, number]): Value {
    return isRouted ? this.#weights.multiply(value, name, shape, 2) : this.#linear(value, role, name, shape)
  }

  /**
   * Sum of the results of the experts of each position, times their shares. Each expert computes only the rows of its
   * positions, and adds them in the order of the experts, so that a row does not depend on the others.
   * Source: Shazeer et al. 2017; Fedus et al. 2021.
   */
  #routed(mlp: MlpSpec, routing: RoutingSpec, x: Value): Value {
    const graph = this.#graph
    const {hiddenSize} = this.#spec
    const rows = graph.node('Reshape', [x, graph.integers(-1, hiddenSize)])
    const shares = this.#shares(mlp.experts.length, routing, x)
    let sum = scaled(graph, rows, 0)
    for (const [i, names] of mlp.experts.entries()) {
      const share = graph.node('Reshape', [graph.node('Gather', [shares, graph.integers(i)], {axis: 0}), flat(graph)])
      const own = graph.node('Reshape', [graph.node('NonZero', [share]), flat(graph)])
      const take = (of: Value) => graph.node('Gather', [of, own], {axis: 0})
      const result = this.#expert(mlp, names, {value: take(rows), isRouted: true})
      const added = graph.node('Mul', [result, graph.node('Unsqueeze', [take(share), graph.integers(1)])])
      sum = graph.node('ScatterND', [sum, graph.node('Unsqueeze', [own, graph.integers(1)]), added], {reduction: 'add'})
    }
    return graph.node('Reshape', [sum, graph.node('Shape', [x])])
  }

  /** Shares of the experts, `[experts, batch * time]`; 0 for those that a position does not use. */
  #shares(count: number, {router, used, isNormalised}: RoutingSpec, x: Value): Value {
    const graph = this.#graph
    const logits = this.#weights.multiply(x, router, [count, this.#spec.hiddenSize])
    const all = graph.node('Softmax', [logits], {axis: -1})
    const [values, ids] = graph.pair('TopK', [all, graph.integers(used)], {axis: -1, largest: 1, sorted: 1})
    const total = () => graph.node('ReduceSum', [values, graph.integers(-1)], {keepdims: 1})
    const own = isNormalised ? graph.node('Div', [values, total()]) : values
    const shares = graph.node('ScatterElements', [scaled(graph, all, 0), ids, own], {axis: -1})
    return graph.node('Transpose', [graph.node('Reshape', [shares, graph.integers(-1, count)])], {perm: [1n, 0n]})
  }

  /**
   * Computes logits, and returns them with and without the parts of the adapters. The adapter of a tied head is applied
   * only here, not to the embedding.
   */
  head(x: Value): {logits: Value; ofWeights: Value} {
    const {vocabSize, hiddenSize, tensors} = this.#spec
    const shape = [vocabSize, hiddenSize] as const
    const ofWeights = this.#weights.multiply(x, tensors.head, shape, 2)
    return {logits: this.#adapters?.addToRows(ofWeights, x, 'head', shape) ?? ofWeights, ofWeights}
  }

  /** x W^T with W `[out, in]` as stored in the shard, plus the parts of the adapters. */
  #linear(x: Value, role: string, name: string, shape: readonly [number, number]): Value {
    const y = this.#weights.multiply(x, name, shape)
    return this.#adapters?.add(y, x, role, shape) ?? y
  }

  #biased(x: Value, weight: string | undefined, size: number): Value {
    if (weight === undefined) return x
    return this.#graph.node('Add', [x, this.#weights.get(weight.replace(/\.weight$/, '.bias'), [size])])
  }

  /** The first and the second halves of heads of twice the size. */
  #halves(x: Value, heads: number, headDim: number): [Value, Value] {
    const graph = this.#graph
    const split = graph.node('Reshape', [x, graph.integers(0, 0, heads, 2 * headDim)])
    const halves = graph.pair('Split', [split, graph.integers(headDim, headDim)], {axis: -1})
    const flat = (half: Value) => graph.node('Reshape', [half, graph.integers(0, 0, heads * headDim)])
    return [flat(halves[0]), flat(halves[1])]
  }

  /** RMS norm per head: reshapes `[batch, time, heads * head_dim]` to `[batch, time, heads, head_dim]` and back. */
  #normHeads(x: Value, name: string, heads: number, headDim: number): Value {
    const split = this.#graph.node('Reshape', [x, this.#graph.integers(0, 0, heads, headDim)])
    const normed = this.norm(split, name, headDim)
    return this.#graph.node('Reshape', [normed, this.#graph.integers(0, 0, heads * headDim)])
  }

  #rotate(x: Value, which: 'q' | 'k', heads: number, headDim: number, rope: RopeSpec): Value {
    const {cos, sin} = this.#rotaryTables(which === 'q' ? rope : {...rope, queryGrowth: undefined})
    const inputs = [x, this.#sequence.positions, cos, sin]
    const part = rope.dims === headDim ? {} : {rotary_embedding_dim: rope.dims}
    return this.#graph.contrib('RotaryEmbedding', inputs, {interleaved: 0, num_heads: heads, ...part})
  }

  /** Tables of cos and sin, `[contextLength, dims / 2]`, shared by layers with the same rotary embedding. */
  #rotaryTables(rope: RopeSpec): {cos: Value; sin: Value} {
    const key = JSON.stringify(rope)
    const cached = this.#rotary.get(key)
    if (cached !== undefined) return cached
    const {frequencies, magnitude} = rotaryFrequencies(rope, this.#contextLength)
    const pairs = frequencies.length
    const table = (name: string, of: (angle: number) => number) => {
      const at = (i: number) => {
        const position = Math.floor(i / pairs)
        return magnitude * queryFactor(rope, position) * of(position * (frequencies[i % pairs] as number))
      }
      const data = Float32Array.from({length: this.#contextLength * pairs}, (_, i) => at(i))
      return this.#graph.constant(`${name}.${this.#rotary.size}`, 'float32', [this.#contextLength, pairs], data)
    }
    const tables = {cos: table('rope_cos', Math.cos), sin: table('rope_sin', Math.sin)}
    this.#rotary.set(key, tables)
    return tables
  }
}
