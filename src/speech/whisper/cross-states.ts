import {ByteProducts, type DataType, type GraphBuilder, largestWeight, type Value} from '../../onnx/index.js'
import type {TensorMap} from '../../weights/index.js'
import type {WhisperConfig} from './config.js'

/** Numbers of `TensorProto.DataType`. */
const [float32, uint8, int32] = [1, 2, 6]

/**
 * Keys and values of the audio for the cross-attention of one decoder layer: outputs of the encoder, and inputs of the
 * decoder with the number of windows as first dimension.
 *
 * As floats: `cross_key.N` `[heads, head_dim, positions]` and `cross_value.N` `[heads, positions, head_dim]`.
 *
 * As bytes, each channel minus the middle of its values in the window has its own scale: `cross_key_scale.N`,
 * `cross_value_scale.N` and `cross_value_middle.N` `[heads, 1, head_dim]`. The middle of the keys is left out, because it
 * changes all scores of a query equally. `cross_offset.N` int32 `[heads, 1, positions]` is 128 times the sum of a
 * position's keys, because the bytes of a query have an offset of 128.
 */
export interface CrossStates {
  /** Adds the outputs; `key` and `value` are `[positions, hidden]`. */
  output(layer: number, key: Value, value: Value): void
  /** Adds the inputs. */
  input(layer: number): {
    /** Products of queries `[windows, heads, rows, head_dim]` with the keys, `[windows, heads, rows, positions]`. */
    scores(query: Value): Value
    /** Mean of the values by weights `[windows, heads, rows, positions]`, `[windows, heads, rows, head_dim]`. */
    mean(weights: Value): Value
  }
}

/** Names of the tensors of a layer. */
export const crossNames = (layer: number, tensors: TensorMap): string[] =>
  (hasCrossBytes(tensors)
    ? ['cross_key', 'cross_value', 'cross_offset', 'cross_key_scale', 'cross_value_scale', 'cross_value_middle']
    : ['cross_key', 'cross_value']
  ).map((name) => `${name}.${layer}`)

/** Memory of the keys and values of one window, bytes. */
export const crossStateBytes = ({decoder, audioPositions, hiddenSize}: WhisperConfig, tensors: TensorMap): number =>
  2 * decoder.layers * audioPositions * hiddenSize * (hasCrossBytes(tensors) ? 1 : 4)

/** Whether a model has bytes as keys and values: those whose decoder matrices are quantised. */
export const hasCrossBytes = (tensors: TensorMap): boolean =>
  tensors.has('model.decoder.layers.0.encoder_attn.q_proj.weight.blocks')

export const crossStates = (graph: GraphBuilder, config: WhisperConfig, tensors: TensorMap): CrossStates =>
  hasCrossBytes(tensors) ? bytes(graph, config) : floats(graph, config)

const sizes = ({hiddenSize, decoder: {heads}}: WhisperConfig) => ({heads, headDim: hiddenSize / heads})

function floats(graph: GraphBuilder, config: WhisperConfig): CrossStates {
  const {heads, headDim} = sizes(config)
  const dims = {key: [heads, headDim, 'positions'], value: [heads, 'positions', headDim]} as const
  return {
    output(layer, key, value) {
      const output = (which: 'key' | 'value', from: Value, perm: readonly bigint[]) =>
        graph.outputNode(
          `cross_${which}.${layer}`,
          'Transpose',
          [graph.node('Reshape', [from, graph.integers(-1, heads, headDim)])],
          {perm},
          'float32',
          dims[which],
        )
      output('key', key, [1n, 2n, 0n])
      output('value', value, [1n, 0n, 2n])
    },
    input(layer) {
      const of = (which: 'key' | 'value') =>
        graph.input(`cross_${which}.${layer}`, 'float32', ['windows', ...dims[which]])
      const [key, value] = [of('key'), of('value')]
      return {
        scores: (query) => graph.node('MatMul', [query, key]),
        mean: (weights) => graph.node('MatMul', [weights, value]),
      }
    },
  }
}

function bytes(graph: GraphBuilder, config: WhisperConfig): CrossStates {
  const {hiddenSize} = config
  const {heads, headDim} = sizes(config)
  const max = largestWeight()
  const products = new ByteProducts(graph)
  const cast = (value: Value, to: number) => graph.node('Cast', [value], {to})
  const perChannel = [heads, 1, headDim] as const

  /** @returns bytes `[heads, head_dim, positions]`, and the scale and middle of each channel `[heads, head_dim, 1]` */
  const quantise = (rows: Value) => {
    const channels = reshape(graph.node('Transpose', [rows], {perm: [1n, 0n]}), heads, headDim, -1)
    const largest = graph.node('ReduceMax', [channels, graph.integers(-1)])
    const smallest = graph.node('ReduceMin', [channels, graph.integers(-1)])
    const middle = graph.node('Mul', [graph.node('Add', [largest, smallest]), graph.number(0.5)])
    const range = graph.node('Mul', [graph.node('Sub', [largest, smallest]), graph.number(0.5 / max)])
    const scale = graph.node('Max', [range, graph.number(minScale)])
    const centred = reshape(graph.node('Sub', [channels, middle]), hiddenSize, -1)
    const bytes = graph.node(
      'QuantizeLinear',
      [centred, reshape(scale, hiddenSize), graph.filled('int8', [hiddenSize], 0)],
      {axis: 0},
    )
    return {bytes: reshape(bytes, heads, headDim, -1), scale, middle}
  }
  const reshape = (value: Value, ...dims: readonly number[]) => graph.node('Reshape', [value, graph.integers(...dims)])

  return {
    output(layer, key, value) {
      const keys = quantise(key)
      const values = quantise(value)
      const output = (name: string, from: Value, type: DataType, dims: readonly (number | string)[]) =>
        graph.output(`cross_${name}.${layer}`, from, type, dims)
      output('key', keys.bytes, 'int8', [heads, headDim, 'positions'])
      output('offset', graph.node('MatMulInteger', [graph.filled('uint8', [1, headDim], 128), keys.bytes]), 'int32', [
        heads,
        1,
        'positions',
      ])
      const valueBytes = graph.node('Transpose', [values.bytes], {perm: [0n, 2n, 1n]})
      output('value', valueBytes, 'int8', [heads, 'positions', headDim])
      output('key_scale', reshape(keys.scale, ...perChannel), 'float32', perChannel)
      output('value_scale', reshape(values.scale, ...perChannel), 'float32', perChannel)
      output('value_middle', reshape(values.middle, ...perChannel), 'float32', perChannel)
    },
    input(layer) {
      const of = (name: string, type: DataType, dims: readonly (number | string)[]) =>
        graph.input(`cross_${name}.${layer}`, type, ['windows', ...dims])
      const key = of('key', 'int8', [heads, headDim, 'positions'])
      const offset = of('offset', 'int32', [heads, 1, 'positions'])
      const value = of('value', 'int8', [heads, 'positions', headDim])
      const keyScale = of('key_scale', 'float32', perChannel)
      const valueScale = of('value_scale', 'float32', perChannel)
      const valueMiddle = of('value_middle', 'float32', perChannel)
      return {
        scores(query) {
          const {bytes, scale} = products.rows(graph.node('Mul', [query, keyScale]))
          const sums = graph.node('Sub', [graph.node('MatMulInteger', [bytes, key]), offset])
          return graph.node('Mul', [cast(sums, float32), scale])
        },
        // A single byte would lose the many small weights: they have two, of which the first one is at most 255.
        mean(weights) {
          const unit = graph.node('Mul', [
            graph.node('ReduceMax', [weights, graph.integers(-1)]),
            graph.number(1 / (255 * 256)),
          ])
          const steps = graph.node('Div', [weights, unit])
          const high = cast(graph.node('Mul', [steps, graph.number(1 / 256)]), uint8)
          const low = cast(cast(steps, int32), uint8)
          const sum = (part: Value) => cast(graph.node('MatMulInteger', [part, value]), float32)
          const sums = graph.node('Add', [graph.node('Mul', [sum(high), graph.number(256)]), sum(low)])
          const means = graph.node('Mul', [graph.node('Mul', [sums, unit]), valueScale])
          return graph.node('Add', [means, valueMiddle])
        },
      }
    },
  }
}

/** Scale of channels whose values are equal. */
const minScale = 1e-30
