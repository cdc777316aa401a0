import type {Value} from '../../onnx/index.js'
import type {NormNames} from '../norm-names.js'
import type {Projection} from '../projection.js'
import type {Block, RecurrentLayer, StateValue} from './block.js'
import {type Convolution, convolutionState, convolve} from './convolution.js'
import {decayRates, memoryState, projectBiased, rmsNorm, silu, split} from './parts.js'

/**
 * A state space layer of Mamba 2. Each head has a state h `[stateSize, headDim]`: with the time step t, h = exp(-a t) h +
 * B (t x)^T; y = h^T C + d x. The heads of a group share B and C. The output is the projection of norm(y * silu(z)).
 * Source: Dao, Gu 2024, "Transformers are SSMs".
 */
export interface Mamba2 extends RecurrentLayer {
  kind: 'mamba2'
  heads: number
  headDim: number
  /** Each has `heads / groups` heads. */
  groups: number
  stateSize: number
  /** Of x, B and C together. */
  convolution: Convolution
  normEps: number
  /** The first one is that of z, x, B, C and t. */
  projections: readonly [into: Projection, out: Projection]
  hasBiases: boolean
  tensors: Mamba2Tensors
}

export interface Mamba2Tensors {
  /** Logarithm of the decay rate of each head. */
  decayLog: string
  /** Added to the time steps of each head. */
  timeBias: string
  /** Factor of the input of each head in its output. */
  skip: string
  norm: string
}

/** Sizes of the heads, and what else a configuration says. */
export type Mamba2Sizes = Pick<Mamba2, 'heads' | 'headDim' | 'groups' | 'stateSize' | 'normEps' | 'hasBiases'> & {
  hiddenSize: number
  /** Positions of the convolution. */
  width: number
  hasConvolutionBias: boolean
}

/** @param prefix of the names of the tensors */
export function mamba2(prefix: string, names: NormNames, sizes: Mamba2Sizes): Mamba2 {
  const {hiddenSize, width, hasConvolutionBias, ...own} = sizes
  const {heads, headDim, groups, stateSize} = own
  const inner = heads * headDim
  const channels = inner + 2 * groups * stateSize
  const convolution = {
    channels,
    width,
    kernel: `${prefix}.conv1d.weight`,
    bias: hasConvolutionBias ? `${prefix}.conv1d.bias` : undefined,
  }
  return {
    kind: 'mamba2',
    names,
    ...own,
    convolution,
    states: [convolutionState(convolution), memoryState(heads, stateSize, headDim)],
    projections: [
      {role: 'mamba_in', name: `${prefix}.in_proj.weight`, shape: [inner + channels + heads, hiddenSize]},
      {role: 'mamba_out', name: `${prefix}.out_proj.weight`, shape: [hiddenSize, inner]},
    ],
    tensors: {
      decayLog: `${prefix}.A_log`,
      timeBias: `${prefix}.dt_bias`,
      skip: `${prefix}.D`,
      norm: `${prefix}.norm.weight`,
    },
  }
}

export const buildMamba2: Block<Mamba2> = (context, spec, x, states) => {
  const {graph, weight} = context
  const {heads, headDim, groups, stateSize, convolution, normEps, hasBiases, tensors} = spec
  const [into, out] = spec.projections
  const [inputs, memory] = states as [StateValue, StateValue]
  const inner = heads * headDim
  const project = (value: Value, projection: Projection) => projectBiased(context, value, projection, hasBiases)
  const byHead = (value: Value) => graph.node('Reshape', [value, graph.integers(0, 0, heads, headDim)])
  const factors = (value: Value) => graph.node('Unsqueeze', [value, graph.integers(-1)])
  const together = (value: Value) => graph.node('Reshape', [value, graph.integers(0, 0, inner)])

  const [z, mixed, step] = split(graph, project(x, into), [inner, convolution.channels, heads]) as [Value, Value, Value]
  const convolved = silu(graph, convolve(context, convolution, mixed, inputs))
  const shared = groups * stateSize
  const [u, b, c] = split(graph, convolved, [inner, shared, shared]) as [Value, Value, Value]
  const ones = graph.filled('float32', [heads], 1)
  // Softplus. The operator of that name rounds an element differently by its place in the tensor.
  const [time] = graph.contribOutputs('LinearAttentionGate', [step, weight(tensors.timeBias, [heads]), ones], [true])
  const rate = decayRates(context, tensors.decayLog, heads)
  const [read, written] = graph.contribOutputs(
    'LinearAttention',
    [c, b, together(graph.node('Mul', [byHead(u), factors(time)])), memory.past, graph.node('Mul', [time, rate])],
    [true, memory.present],
    {update_rule: 'gated', q_num_heads: groups, kv_num_heads: heads, scale: {float: 1}},
  )
  graph.output(memory.present, written, 'float32', ['batch', heads, stateSize, headDim])
  const skipped = together(graph.node('Mul', [byHead(u), factors(weight(tensors.skip, [heads]))]))
  const gated = graph.node('Mul', [graph.node('Add', [read, skipped]), silu(graph, z)])
  return project(rmsNorm(graph, gated, weight(tensors.norm, [inner]), normEps), out)
}
