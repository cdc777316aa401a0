import {SvcError} from '../../errors/index.js'
import {GraphBuilder, type Value} from '../../onnx/index.js'
import type {TensorMap} from '../../weights/index.js'
import {GraphWeights} from '../graph-weights.js'
import type {Activation, CtcConfig, CtcLayer} from './config.js'

/** Sound on its way through the layers. */
interface Flow {
  /** `[1, channels, frames]`. */
  value: Value
  channels: number
}

type Compute<T extends CtcLayer['type']> = (
  parts: {graph: GraphBuilder; weights: GraphWeights; file: string},
  layer: Extract<CtcLayer, {type: T}>,
  flow: Flow,
) => Flow

/**
 * Builds the graph of a described encoder: input `features` `[1, channels, frames]`, output `logits`
 * `[frames, vocabulary]`.
 * @throws tensor_missing, tensor_shape, tensor_dtype; model_file_invalid where layers do not fit together
 */
export function buildCtcGraph(
  config: CtcConfig,
  layers: readonly CtcLayer[],
  tensors: TensorMap,
): {model: Uint8Array; externalFolder: string; vocabularySize: number} {
  const graph = new GraphBuilder('ctc')
  const weights = new GraphWeights(graph, tensors)
  const channels = config.features.type === 'log_mel' ? config.features.bins : 1
  const features = graph.input('features', 'float32', [1, channels, 'frames'])
  const parts = {graph, weights, file: config.file}
  const last = computeAll(parts, layers, {value: features, channels})
  const rows = toRows(graph, last.value)
  graph.output('logits', rows, 'float32', ['positions', last.channels])
  return {model: graph.build(), externalFolder: weights.folder, vocabularySize: last.channels}
}

type Parts = Parameters<Compute<'linear'>>[0]

const computeAll = (parts: Parts, layers: readonly CtcLayer[], flow: Flow): Flow =>
  layers.reduce((current, layer) => (compute[layer.type] as Compute<CtcLayer['type']>)(parts, layer, current), flow)

const compute: {[T in CtcLayer['type']]: Compute<T>} = {
  conv1d({graph, weights, file}, layer, {value, channels}) {
    const {name, kernel, stride, dilation, groups} = layer
    if (channels % groups !== 0 || layer.channels % groups !== 0)
      throw new SvcError('model_file_invalid', {file, reason: `${name}: ${channels} channels are no ${groups} groups`})
    const span = dilation * (kernel - 1)
    const before = Math.floor(span / 2)
    const convolved = graph.node(
      'Conv',
      [
        value,
        weights.get(`${name}.weight`, [layer.channels, channels / groups, kernel]),
        weights.get(`${name}.bias`, [layer.channels]),
      ],
      {
        kernel_shape: [BigInt(kernel)],
        strides: [BigInt(stride)],
        dilations: [BigInt(dilation)],
        pads: [BigInt(before), BigInt(span - before)],
        group: BigInt(groups),
      },
    )
    return {value: activate(graph, convolved, layer.activation), channels: layer.channels}
  },

  batch_norm({graph, weights}, {name, epsilon, activation}, {value, channels}) {
    const statistics = ['weight', 'bias', 'running_mean', 'running_var'].map((key) =>
      weights.get(`${name}.${key}`, [channels]),
    )
    const normed = graph.node('BatchNormalization', [value, ...statistics], {epsilon: {float: epsilon}})
    return {value: activate(graph, normed, activation), channels}
  },

  layer_norm({graph, weights}, {name, epsilon, activation}, {value, channels}) {
    const normed = graph.node(
      'LayerNormalization',
      [toRows(graph, value), weights.get(`${name}.weight`, [channels]), weights.get(`${name}.bias`, [channels])],
      {axis: -1, epsilon: {float: epsilon}},
    )
    return {value: fromRows(graph, activate(graph, normed, activation)), channels}
  },

  gru({graph, weights}, {name, hidden, bidirectional}, {value, channels}) {
    const directions = bidirectional ? ['', '_reverse'] : ['']
    const gates = (tensor: string, shape: readonly number[]) =>
      stacked(
        graph,
        directions.map((end) => reordered(graph, weights.get(`${name}.${tensor}_l0${end}`, shape), hidden)),
      )
    const bias = stacked(
      graph,
      directions.map((end) =>
        graph.node(
          'Concat',
          ['bias_ih', 'bias_hh'].map((tensor) =>
            reordered(graph, weights.get(`${name}.${tensor}_l0${end}`, [3 * hidden]), hidden),
          ),
          {axis: 0},
        ),
      ),
    )
    const sequence = graph.node('Transpose', [value], {perm: [2n, 0n, 1n]})
    const out = graph.node(
      'GRU',
      [sequence, gates('weight_ih', [3 * hidden, channels]), gates('weight_hh', [3 * hidden, hidden]), bias],
      {
        hidden_size: BigInt(hidden),
        direction: bidirectional ? 'bidirectional' : 'forward',
        // PyTorch applies the reset gate after the product with the hidden state.
        linear_before_reset: 1n,
      },
    )
    // [frames, directions, 1, hidden]
    const size = hidden * directions.length
    const rows = graph.node('Reshape', [out, graph.integers(-1, size)])
    return {value: fromRows(graph, rows), channels: size}
  },

  linear({graph, weights}, {name, channels, activation}, flow) {
    const product = weights.linear(toRows(graph, flow.value), name, [channels, flow.channels])
    return {value: fromRows(graph, activate(graph, product, activation)), channels}
  },

  residual(parts, {layers}, flow) {
    const inner = computeAll(parts, layers, flow)
    if (inner.channels !== flow.channels) {
      const reason = `a residual of ${flow.channels} channels has layers that give ${inner.channels}`
      throw new SvcError('model_file_invalid', {file: parts.file, reason})
    }
    return {value: parts.graph.node('Add', [flow.value, inner.value]), channels: flow.channels}
  },
}

/** `[1, channels, frames]` as `[frames, channels]`. */
const toRows = (graph: GraphBuilder, value: Value): Value =>
  graph.node('Squeeze', [graph.node('Transpose', [value], {perm: [0n, 2n, 1n]}), graph.integers(0)])

const fromRows = (graph: GraphBuilder, rows: Value): Value =>
  graph.node('Transpose', [graph.node('Unsqueeze', [rows, graph.integers(0)])], {perm: [0n, 2n, 1n]})

const stacked = (graph: GraphBuilder, values: readonly Value[]): Value =>
  graph.node(
    'Concat',
    values.map((value) => graph.node('Unsqueeze', [value, graph.integers(0)])),
    {axis: 0},
  )

/** The gates of PyTorch come as reset, update, new; those of ONNX as update, reset, new. */
function reordered(graph: GraphBuilder, gates: Value, hidden: number): Value {
  const gate = (index: number) =>
    graph.node('Slice', [
      gates,
      graph.integers(index * hidden),
      graph.integers((index + 1) * hidden),
      graph.integers(0),
    ])
  return graph.node('Concat', [gate(1), gate(0), gate(2)], {axis: 0})
}

function activate(graph: GraphBuilder, value: Value, activation: Activation): Value {
  if (activation === 'none') return value
  if (activation === 'gelu') return graph.contrib('Gelu', [value])
  if (activation === 'silu') return graph.node('Mul', [value, graph.node('Sigmoid', [value])])
  return graph.node(activation === 'relu' ? 'Relu' : 'Tanh', [value])
}
