import type {Attributes, GraphBuilder, Value} from '../onnx/index.js'
import type {AdapterBranches} from './adapters/adapter-branches.js'
import type {Initializers} from './initializers.js'
import type {BlockContext} from './recurrent/block.js'
import {buildRecurrent, type RecurrentSpec} from './recurrent/index.js'
import {queryFactor, rotaryFrequencies} from './rope.js'
import {
  type Activation,
  type AttentionSpec,
  type DecoderSpec,
  type ExpertNames,
  type LayerInputSpec,
  type LayerInputs,
  type LayerSpec,
  type MlpSpec,
  type NormNames,
  queryRows,
  type RopeSpec,
  type RoutingSpec,
} from './spec.js'

/** x * factor. */
export const scaled = (graph: GraphBuilder, x: Value, factor: number): Value =>
  factor === 1 ? x : graph.node('Mul', [x, graph.number(factor)])

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

/** Adds the parts of layers to a graph. */
export class LayerBuilder {
  readonly #graph: GraphBuilder
  readonly #weights: Initializers
  readonly #spec: DecoderSpec
  readonly #contextLength: number
  readonly #adapters: AdapterBranches | undefined
  readonly #sequence: {positions: Value; lastIndex: Value; totalLength: Value}
  readonly #rotary = new Map<string, {cos: Value; sin: Value}>()
  /** Keys and values of layers that others may use. */
  readonly #kept = new Map<number, {key: Value; value: Value}>()

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

  /** @param name of the weights; undefined: ones */
  norm(x: Value, name: string | undefined, size = this.#spec.hiddenSize): Value {
    const graph = this.#graph
    const {normEps, normOffset} = this.#spec
    const stored = name === undefined ? graph.filled('float32', [size], 1) : this.#weights.get(name, [size])
    // The session computes the sum once, when it is opened.
    const weight =
      normOffset === 0 || name === undefined ? stored : graph.node('Add', [stored, graph.number(normOffset)])
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
    const {heads, kvHeads, headDim, isGated, rope, scale, cap, window, names, biases, headNorms, source} = attention
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
    const own = () => {
      const v = project('v', kvHeads * headDim)
      return {
        added: [
          rotated('k', project('k', kvHeads * headDim), kvHeads),
          attention.normsValues ? this.#normHeads(v, undefined, kvHeads, headDim) : v,
        ],
        past: {key: cache('past_key'), value: cache('past_value')},
      }
    }
    // Nothing is added to the keys and values of another layer, whose outputs already have those of this run.
    const shared = (of: number) => {
      const none = graph.node('Slice', [
        q,
        graph.integers(0, 0),
        graph.integers(0, kvHeads * headDim),
        graph.integers(1, 2),
      ])
      return {added: [none, none], past: this.#kept.get(of) as {key: Value; value: Value}}
    }
    const {added, past} = source === undefined ? own() : shared(source)
    const {lastIndex, totalLength} = this.#sequence
    const [context, key, value] = graph.contribOutputs(
      'GroupQueryAttention',
      [q, ...added, past.key, past.value, lastIndex, totalLength],
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
    this.#kept.set(layer, {key, value})
    const gated = gate === undefined ? context : graph.node('Mul', [context, graph.node('Sigmoid', [gate])])
    const out = this.#linear(gated, 'o', names.o, [hiddenSize, heads * headDim])
    return this.#biased(out, biases.includes('o') ? names.o : undefined, hiddenSize)
  }

  feedForward(mlp: MlpSpec, x: Value): Value {
    const [only] = mlp.experts
    if (mlp.routing !== undefined) return this.#routed(mlp, mlp.routing, x)
    return this.#expert(mlp, only as ExpertNames, {value: x, isRouted: false})
  }

  /**
   * The inputs of all layers, `[batch, time, layers, size]`.
   * @param embedded scaled embeddings of the tokens
   */
  inputs({size, embedding, projection, norm}: LayerInputs, tokens: Value, embedded: Value): Value {
    const graph = this.#graph
    const {vocabSize, hiddenSize, layers} = this.#spec
    const whole = layers.length * size
    const byLayer = (x: Value) => graph.node('Reshape', [x, graph.integers(0, 0, layers.length, size)])
    const found = byLayer(this.#weights.rows(tokens, embedding, [vocabSize, whole]))
    const projected = this.#linear(embedded, 'inputs', projection, [whole, hiddenSize])
    const normed = this.norm(byLayer(scaled(graph, projected, hiddenSize ** -0.5)), norm, size)
    return scaled(graph, graph.node('Add', [normed, scaled(graph, found, Math.sqrt(size))]), Math.SQRT1_2)
  }

  /** The hidden states with what a layer adds by its input, times its scale. */
  withInput(x: Value, of: LayerInputSpec, {activation}: MlpSpec, inputs: Value, layer: number): Value {
    const graph = this.#graph
    const {hiddenSize, layerInputs} = this.#spec
    const size = layerInputs?.size ?? 0
    const {op, attributes} = activations[activation]
    const added = this.residual(x, of.names, (normed) => {
      const gate = graph.contrib(op, [this.#linear(normed, 'input_gate', of.gate, [size, hiddenSize])], attributes)
      const own = graph.node('Gather', [inputs, graph.integer(layer)], {axis: 2})
      return this.#linear(graph.node('Mul', [gate, own]), 'input', of.projection, [hiddenSize, size])
    })
    return graph.node('Mul', [added, this.#weights.get(of.scale, [1])])
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
  #normHeads(x: Value, name: string | undefined, heads: number, headDim: number): Value {
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
