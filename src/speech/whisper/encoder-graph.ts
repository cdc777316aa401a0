import {GraphBuilder, type Value} from '../../onnx/index.js'
import type {TensorMap} from '../../weights/index.js'
import {GraphWeights} from '../model/graph-weights.js'
import type {WhisperConfig} from './config.js'
import {crossStates} from './cross-states.js'
import {positionsTensor} from './encoder-positions.js'

/** A serialised graph with external weights. */
export interface WeightedGraph {
  model: Uint8Array
  /** Folder of the relative locations in the graph. */
  externalFolder: string
}

export interface EncoderGraphOptions {
  /** True if the encoder states are an output of the graph. */
  states?: boolean
  /** Positional embedding `[positions, hidden]`; default: that of the checkpoint. */
  positions?: Float32Array | undefined
}

/** Epsilon of every layer norm. */
const normEpsilon = 1e-5

/**
 * The encoder: computes the cross-attention keys and values of every decoder layer from log-mel features, once per
 * window.
 *
 * Input: `mel` float32 `[1, bins, frames]`. Outputs: those of `CrossStates`; with `states`, also `states`
 * `[positions, hidden]`.
 * Source: Radford et al. 2022, arXiv 2212.04356, and the layer names of Hugging Face's checkpoints.
 * @throws tensor_missing, tensor_shape, tensor_dtype
 */
export function buildEncoderGraph(
  config: WhisperConfig,
  tensors: TensorMap,
  {states = false, positions}: EncoderGraphOptions = {},
): WeightedGraph {
  const graph = new GraphBuilder('encoder')
  const weights = new GraphWeights(graph, tensors)
  const {hiddenSize, encoder} = config
  const norm = normOf(graph, weights, hiddenSize)

  const table =
    positions === undefined
      ? weights.get(positionsTensor, [config.audioPositions, hiddenSize])
      : graph.constant(positionsTensor, 'float32', [config.audioPositions, hiddenSize], positions)
  let x = embedAudio(graph, weights, config, table)
  for (let i = 0; i < encoder.layers; i++) {
    const layer = `model.encoder.layers.${i}`
    const normed = norm(x, `${layer}.self_attn_layer_norm`)
    x = graph.node('Add', [x, attend(graph, weights, config, `${layer}.self_attn`, normed)])
    x = graph.node('Add', [
      x,
      feedForward(graph, weights, layer, norm(x, `${layer}.final_layer_norm`), hiddenSize, encoder.ffnSize),
    ])
  }
  x = norm(x, 'model.encoder.layer_norm')
  if (states) graph.output('states', x, 'float32', ['positions', hiddenSize])
  const cross = crossStates(graph, config, tensors)
  for (let i = 0; i < config.decoder.layers; i++) {
    const name = `model.decoder.layers.${i}.encoder_attn`
    const project = (which: 'k' | 'v') =>
      weights.linear(x, `${name}.${which}_proj`, [hiddenSize, hiddenSize], {bias: which === 'v'})
    cross.output(i, project('k'), project('v'))
  }
  return {model: graph.build(), externalFolder: weights.folder}
}

/** Layer norm over the last axis, `[n, size]`. */
export const normOf = (graph: GraphBuilder, weights: GraphWeights, size: number) => (x: Value, name: string) =>
  graph.node('LayerNormalization', [x, weights.get(`${name}.weight`, [size]), weights.get(`${name}.bias`, [size])], {
    axis: -1,
    epsilon: {float: normEpsilon},
  })

/** fc2(gelu(fc1(x))) with the exact GELU. */
export function feedForward(
  graph: GraphBuilder,
  weights: GraphWeights,
  layer: string,
  x: Value,
  size: number,
  ffnSize: number,
): Value {
  const inner = graph.contrib('Gelu', [weights.linear(x, `${layer}.fc1`, [ffnSize, size])])
  return weights.linear(inner, `${layer}.fc2`, [size, ffnSize])
}

/** Two convolutions, the second with stride 2, and positional embedding: `[1, bins, frames]` to `[positions, hidden]`. */
function embedAudio(graph: GraphBuilder, weights: GraphWeights, config: WhisperConfig, table: Value): Value {
  const {hiddenSize, melBins} = config
  const mel = graph.input('mel', 'float32', [1, melBins, 'frames'])
  const convolve = (x: Value, name: string, input: number, stride: bigint) => {
    const kernel = weights.get(`${name}.weight`, [hiddenSize, input, 3])
    const bias = weights.get(`${name}.bias`, [hiddenSize])
    const attributes = {kernel_shape: [3n], pads: [1n, 1n], strides: [stride]}
    return graph.contrib('Gelu', [graph.node('Conv', [x, kernel, bias], attributes)])
  }
  const first = convolve(mel, 'model.encoder.conv1', melBins, 1n)
  const second = convolve(first, 'model.encoder.conv2', hiddenSize, 2n)
  const rows = graph.node('Squeeze', [graph.node('Transpose', [second], {perm: [0n, 2n, 1n]}), graph.integers(0)])
  const length = graph.node('Slice', [graph.node('Shape', [rows]), graph.integers(0), graph.integers(1)])
  const positions = graph.node('Slice', [table, graph.integers(0), length])
  return graph.node('Add', [rows, positions])
}

/** Self-attention over `[positions, hidden]` without a mask. */
function attend(graph: GraphBuilder, weights: GraphWeights, config: WhisperConfig, name: string, x: Value): Value {
  const {hiddenSize, encoder} = config
  const square = [hiddenSize, hiddenSize] as const
  const batched = (value: Value) => graph.node('Unsqueeze', [value, graph.integers(0)])
  const q = batched(weights.linear(x, `${name}.q_proj`, square))
  const k = batched(weights.linear(x, `${name}.k_proj`, square, {bias: false}))
  const v = batched(weights.linear(x, `${name}.v_proj`, square))
  const context = graph.contrib('MultiHeadAttention', [q, k, v], {num_heads: encoder.heads})
  return weights.linear(graph.node('Squeeze', [context, graph.integers(0)]), `${name}.out_proj`, square)
}
