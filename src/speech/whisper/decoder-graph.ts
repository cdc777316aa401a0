import {GraphBuilder, type Value} from '../../onnx/index.js'
import type {TensorMap} from '../../weights/index.js'
import {GraphWeights} from '../model/graph-weights.js'
import type {WhisperConfig} from './config.js'
import {type CrossStates, crossStates} from './cross-states.js'
import {feedForward, normOf, type WeightedGraph} from './encoder-graph.js'
import {embeddingTensor} from './quantized-tensors.js'

/**
 * The decoder: new tokens of several hypotheses over one encoded window.
 *
 * Rows are time-major, `time * batch`, so that a step appends one contiguous block to a cache. Inputs:
 *
 * - `hidden` float32 `[rows, hidden]`, the embedded tokens
 * - `split` int64 `[4]` = `[time, batch, heads, head_dim]`
 * - `mask` float32 `[time, past + time]`, 0 or -infinity
 * - `past_key.N`, `past_value.N` `[past, batch, hidden]`
 * - those of `CrossStates`
 * - `window_split` int64 `[4]` = `[rows / windows, windows, heads, head_dim]`
 * - `logit_rows` int64 `[n]`
 * - `text_bias` float32 `[text]`, added to the logits of text tokens before the most likely ones are selected
 * - `top_count` int64 `[1]`, the number of these
 * - `wanted` int64 `[n, m]`, more text tokens
 *
 * Outputs:
 *
 * - `key.N`, `value.N` `[rows, hidden]`, to append to the past
 * - `attention.N` `[windows, heads, rows, positions]` for the layers in `aligned`
 * - those of `outputLogits`
 *
 * All hypotheses of one window are rows of one matrix product with its keys and values, which are not copied per
 * hypothesis. Of several windows, each has one row per position in time.
 * @throws tensor_missing, tensor_shape, tensor_dtype
 */
export function buildDecoderGraph(
  config: WhisperConfig,
  tensors: TensorMap,
  {aligned, text}: {aligned: ReadonlySet<number>; text: number},
): WeightedGraph {
  const graph = new GraphBuilder('decoder')
  const weights = new GraphWeights(graph, tensors)
  const {hiddenSize, decoder} = config
  const norm = normOf(graph, weights, hiddenSize)
  const inputs = {
    split: graph.input('split', 'int64', [4]),
    mask: graph.input('mask', 'float32', ['time', 'total']),
  }

  const windows = graph.input('window_split', 'int64', [4])

  const cross = crossStates(graph, config, tensors)

  let x = graph.input('hidden', 'float32', ['rows', hiddenSize])
  for (let i = 0; i < decoder.layers; i++) {
    const layer = `model.decoder.layers.${i}`
    const self = attendPast(graph, weights, config, i, norm(x, `${layer}.self_attn_layer_norm`), inputs)
    x = graph.node('Add', [x, self])
    const normed1 = norm(x, `${layer}.encoder_attn_layer_norm`)
    const {output, attention} = attendAudio(graph, weights, config, i, normed1, {split: windows, cross})
    if (aligned.has(i))
      graph.output(`attention.${i}`, attention, 'float32', ['windows', decoder.heads, 'rows', 'positions'])
    x = graph.node('Add', [x, output])
    const normed = norm(x, `${layer}.final_layer_norm`)
    x = graph.node('Add', [x, feedForward(graph, weights, layer, normed, hiddenSize, decoder.ffnSize)])
  }
  const selected = graph.node('Gather', [x, graph.input('logit_rows', 'int64', ['n'])], {axis: 0})
  const final = norm(selected, 'model.decoder.layer_norm')
  outputLogits(graph, weights, config, final, text)
  return {model: graph.build(), externalFolder: weights.folder}
}

/**
 * Outputs of the last hidden states, `[n, hidden]`:
 *
 * - `final`, these states
 * - `text` `[n, text]`, the logits of the text tokens, approximate if the matrix is quantised
 * - `top` and `top_ids` `[n, k]`, the largest of them with the bias
 * - `exact` `[n, k + m]`, the exact logits of these tokens and of the wanted ones
 * - `text_total` `[n, 1]`, log-sum-exp of the biased logits
 * - `others` `[n, vocabulary - text]`, the exact logits of the later tokens, which the timestamp rules need all of
 */
function outputLogits(
  graph: GraphBuilder,
  weights: GraphWeights,
  {hiddenSize, vocabSize}: WhisperConfig,
  final: Value,
  text: number,
): void {
  const shape = [vocabSize, hiddenSize] as const
  const count = graph.input('top_count', 'int64', [1])
  const logits = weights.logits(final, embeddingTensor, shape, text)
  const biased = graph.node('Add', [logits, graph.input('text_bias', 'float32', [text])])
  const [top, ids] = graph.pair('TopK', [biased, count], {axis: -1, largest: 1, sorted: 1})
  const first = (of: Value) => graph.node('Gather', [of, graph.integers(0)], {axis: 1})
  // LogSoftmax is ten times as fast as ReduceLogSumExp.
  const logprobs = graph.node('LogSoftmax', [biased], {axis: -1})
  const total = graph.node('Sub', [first(top), graph.node('GatherElements', [logprobs, first(ids)], {axis: -1})])
  const candidates = graph.node('Concat', [ids, graph.input('wanted', 'int64', ['n', 'm'])], {axis: 1})
  const column = graph.node('Unsqueeze', [final, graph.integers(2)])
  const products = graph.node('MatMul', [weights.rows(embeddingTensor, shape, candidates), column])
  const outputs = [
    ['final', final, hiddenSize],
    ['text', logits, text],
    ['top', top, 'k'],
    ['exact', graph.node('Squeeze', [products, graph.integers(2)]), 'candidates'],
    ['text_total', total, 1],
    ['others', weights.exactLogits(final, embeddingTensor, shape, text), vocabSize - text],
  ] as const
  for (const [name, value, size] of outputs) graph.output(name, value, 'float32', ['n', size])
  graph.output('top_ids', ids, 'int64', ['n', 'k'])
}

/** The query, scaled by 1 / sqrt(head_dim) as the checkpoints expect. */
function query(graph: GraphBuilder, weights: GraphWeights, config: WhisperConfig, name: string, x: Value): Value {
  const {hiddenSize, decoder} = config
  const scale = Float32Array.of(Math.sqrt(decoder.heads / hiddenSize))
  const projected = weights.linear(x, `${name}.q_proj`, [hiddenSize, hiddenSize])
  return graph.node('Mul', [projected, graph.constant(`${name}.scale`, 'float32', [1], scale)])
}

/** Causal self-attention over the past and the new tokens of each hypothesis. */
function attendPast(
  graph: GraphBuilder,
  weights: GraphWeights,
  config: WhisperConfig,
  layer: number,
  x: Value,
  {split, mask}: {split: Value; mask: Value},
): Value {
  const {hiddenSize, decoder} = config
  const name = `model.decoder.layers.${layer}.self_attn`
  const square = [hiddenSize, hiddenSize] as const
  /** `[past + time, batch, heads, head_dim]` */
  const withPast = (which: 'key' | 'value', added: Value) => {
    const past = graph.input(`past_${which}.${layer}`, 'float32', ['past', 'batch', hiddenSize])
    graph.output(`${which}.${layer}`, added, 'float32', ['rows', hiddenSize])
    const heads = [decoder.heads, hiddenSize / decoder.heads] as const
    const before = graph.node('Reshape', [past, graph.integers(0, 0, ...heads)], {allowzero: 0})
    return graph.node('Concat', [before, graph.node('Reshape', [added, split])], {axis: 0})
  }
  const q = graph.node('Transpose', [graph.node('Reshape', [query(graph, weights, config, name, x), split])], {
    perm: [1n, 2n, 0n, 3n],
  })
  const keys = withPast('key', weights.linear(x, `${name}.k_proj`, square, {bias: false}))
  const values = withPast('value', weights.linear(x, `${name}.v_proj`, square))
  const scores = graph.node('MatMul', [q, graph.node('Transpose', [keys], {perm: [1n, 2n, 3n, 0n]})])
  const weighted = graph.node('Softmax', [graph.node('Add', [scores, mask])], {axis: -1})
  const context = graph.node('MatMul', [weighted, graph.node('Transpose', [values], {perm: [1n, 2n, 0n, 3n]})])
  const rows = graph.node('Reshape', [
    graph.node('Transpose', [context], {perm: [2n, 0n, 1n, 3n]}),
    graph.integers(-1, hiddenSize),
  ])
  return weights.linear(rows, `${name}.out_proj`, square)
}

/**
 * Cross-attention of each row to its window. `attention` is `[windows, heads, rows, positions]`.
 * @param split `[rows per window, windows, heads, head_dim]`
 */
function attendAudio(
  graph: GraphBuilder,
  weights: GraphWeights,
  config: WhisperConfig,
  layer: number,
  x: Value,
  {split, cross}: {split: Value; cross: CrossStates},
): {output: Value; attention: Value} {
  const {hiddenSize} = config
  const name = `model.decoder.layers.${layer}.encoder_attn`
  const {scores, mean} = cross.input(layer)
  const q = graph.node('Transpose', [graph.node('Reshape', [query(graph, weights, config, name, x), split])], {
    perm: [1n, 2n, 0n, 3n],
  })
  const attention = graph.node('Softmax', [scores(q)], {axis: -1})
  const context = graph.node('Transpose', [mean(attention)], {perm: [2n, 0n, 1n, 3n]})
  const rows = graph.node('Reshape', [context, graph.integers(-1, hiddenSize)])
  return {output: weights.linear(rows, `${name}.out_proj`, [hiddenSize, hiddenSize]), attention}
}
