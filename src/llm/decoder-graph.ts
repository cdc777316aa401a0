import {GraphBuilder, type Value} from '../onnx/index.js'
import {type TensorMap, withParts} from '../weights/index.js'
import {AdapterBranches} from './adapters/adapter-branches.js'
import {Initializers} from './initializers.js'
import {LayerBuilder, scaled} from './layer-graph.js'
import type {DecoderSpec} from './spec.js'

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
 * - `past_key.N`, `past_value.N` `[batch, kv_heads, capacity, head_dim]` of attention with own keys and values
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
  const inputs = spec.layerInputs && layers.inputs(spec.layerInputs, tokens, hidden)
  for (const [i, layer] of spec.layers.entries()) {
    hidden = layers.residual(hidden, (layer.attention ?? layer.recurrent).names, (x) => layers.mix(layer, i, x))
    hidden = layers.residual(hidden, layer.mlp.names, (x) => layers.feedForward(layer.mlp, x))
    if (layer.input !== undefined && inputs !== undefined)
      hidden = layers.withInput(hidden, layer.input, layer.mlp, inputs, i)
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
