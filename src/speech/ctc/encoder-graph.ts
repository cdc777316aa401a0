import {SvcError} from '../../errors/index.js'
import {GraphBuilder, type Value} from '../../onnx/index.js'
import type {TensorMap} from '../../weights/index.js'
import {GraphWeights} from '../model/graph-weights.js'
import type {Activation, CtcConfig, CtcLayer} from './config.js'

/** A tensor between layers. */
interface Flow {
  /** `[1, channels, frames]`. */
  value: Value
  channels: number
}

/** Frames that a graph for audio in pieces keeps for its next run. */
interface Carry {
  /** Adds the frames kept by the last run before `value`; at the start there are `frames` frames of zeros. */
  join(value: Value, channels: number, frames: number): Value
  /** Keeps the frames of the last join from the index `from` on. */
  keep(all: Value, from: Value): void
}

type Compute<T extends CtcLayer['type']> = (
  parts: {graph: GraphBuilder; weights: GraphWeights; file: string; carry: Carry | undefined},
  layer: Extract<CtcLayer, {type: T}>,
  flow: Flow,
) => Flow

/** Shape of one state at the start of the audio, `[1, channels, frames]`, all zeros. */
export interface CarriedShape {
  channels: number
  frames: number
}

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
  return buildGraph(graph, config, layers, tensors, undefined)
}

/**
 * Builds the graph of a described encoder for audio in pieces. Convolutions are not padded but continue with frames of
 * the last run. Therefore the logits of all runs together equal those of one run over the complete audio, except at its
 * end. State `i` is the input `state.i` and the output `next.i`.
 * @throws as `buildCtcGraph`
 */
export function buildStreamingCtcGraph(
  config: CtcConfig,
  layers: readonly CtcLayer[],
  tensors: TensorMap,
): ReturnType<typeof buildCtcGraph> & {states: readonly CarriedShape[]} {
  const graph = new GraphBuilder('ctc_stream')
  const states: CarriedShape[] = []
  const kept = new Map<Value, number>()
  const carry: Carry = {
    join(value, channels, frames) {
      const index = states.push({channels, frames}) - 1
      const state = graph.input(`state.${index}`, 'float32', [1, channels, `state_${index}`])
      const all = graph.node('Concat', [state, value], {axis: 2})
      kept.set(all, index)
      return all
    },
    keep(all, from) {
      const index = kept.get(all) as number
      const ends = [graph.integers(2 ** 31 - 1), graph.integers(2)]
      const {channels} = states[index] as CarriedShape
      graph.outputNode(`next.${index}`, 'Slice', [all, from, ...ends], {}, 'float32', [1, channels, `next_${index}`])
    },
  }
  return {...buildGraph(graph, config, layers, tensors, carry), states}
}

function buildGraph(
  graph: GraphBuilder,
  config: CtcConfig,
  layers: readonly CtcLayer[],
  tensors: TensorMap,
  carry: Carry | undefined,
) {
  const weights = new GraphWeights(graph, tensors)
  const channels = config.features.type === 'log_mel' ? config.features.bins : 1
  const features = graph.input('features', 'float32', [1, channels, 'frames'])
  const parts = {graph, weights, file: config.file, carry}
  const last = computeAll(parts, layers, {value: features, channels})
  const rows = toRows(graph, last.value)
  graph.output('logits', rows, 'float32', ['positions', last.channels])
  return {model: graph.build(), externalFolder: weights.folder, vocabularySize: last.channels}
}

/**
 * Returns the look-ahead and the reduction of the frame rate of a described encoder; undefined if it needs the complete
 * audio.
 */
export function streamingOf(layers: readonly CtcLayer[]): {lookAheadFrames: number; stride: number} | undefined {
  let [lookAheadFrames, stride] = [0, 1]
  for (const layer of layers) {
    if (layer.type === 'gru') return undefined
    if (layer.type === 'conv1d') {
      const span = layer.dilation * (layer.kernel - 1)
      lookAheadFrames += stride * (span - Math.floor(span / 2))
      stride *= layer.stride
    }
    if (layer.type === 'residual') {
      const inner = streamingOf(layer.layers)
      if (inner === undefined || inner.stride !== 1) return undefined
      lookAheadFrames += stride * inner.lookAheadFrames
    }
  }
  return {lookAheadFrames, stride}
}

type Parts = Parameters<Compute<'linear'>>[0]

const computeAll = (parts: Parts, layers: readonly CtcLayer[], flow: Flow): Flow =>
  layers.reduce((current, layer) => (compute[layer.type] as Compute<CtcLayer['type']>)(parts, layer, current), flow)

const compute: {[T in CtcLayer['type']]: Compute<T>} = {
  conv1d({graph, weights, file, carry}, layer, {value, channels}) {
    const {name, kernel, stride, dilation, groups} = layer
    if (channels % groups !== 0 || layer.channels % groups !== 0)
      throw new SvcError('model_file_invalid', {
        file,
        reason: `${name} cannot split ${channels} input and ${layer.channels} output channels into ${groups} groups`,
      })
    const span = dilation * (kernel - 1)
    const before = Math.floor(span / 2)
    const input = carry?.join(value, channels, before) ?? value
    const convolved = graph.node(
      'Conv',
      [
        input,
        weights.get(`${name}.weight`, [layer.channels, channels / groups, kernel]),
        weights.get(`${name}.bias`, [layer.channels]),
      ],
      {
        kernel_shape: [BigInt(kernel)],
        strides: [BigInt(stride)],
        dilations: [BigInt(dilation)],
        pads: carry === undefined ? [BigInt(before), BigInt(span - before)] : [0n, 0n],
        group: BigInt(groups),
      },
    )
    carry?.keep(input, graph.node('Mul', [framesOf(graph, convolved), graph.integers(stride)]))
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
      const reason = `a residual block has ${flow.channels} input channels but ${inner.channels} output channels`
      throw new SvcError('model_file_invalid', {file: parts.file, reason})
    }
    const {graph, carry} = parts
    if (carry === undefined) return {value: graph.node('Add', [flow.value, inner.value]), channels: flow.channels}
    // The inner layers are behind the input by the frames that they look ahead.
    const all = carry.join(flow.value, flow.channels, 0)
    const count = framesOf(graph, inner.value)
    carry.keep(all, count)
    const reached = graph.node('Slice', [all, graph.integers(0), count, graph.integers(2)])
    return {value: graph.node('Add', [reached, inner.value]), channels: flow.channels}
  },
}

/** The number of frames of `[1, channels, frames]`, as a vector of one integer. */
const framesOf = (graph: GraphBuilder, value: Value): Value =>
  graph.node('Slice', [graph.node('Shape', [value]), graph.integers(2), graph.integers(3)])

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

/** PyTorch orders the gates reset, update, new; ONNX update, reset, new. */
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
