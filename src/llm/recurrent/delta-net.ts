import type {Value} from '../../onnx/index.js'
import type {NormNames} from '../norm-names.js'
import type {Projection} from '../projection.js'
import type {Block, BlockContext, RecurrentLayer, StateValue} from './block.js'
import {type Convolution, convolutionState, convolve} from './convolution.js'
import {decayRates, memoryState, rmsNorm, silu, split} from './parts.js'

/**
 * A Gated DeltaNet. Each head of values has a memory S `[keyDim, valueDim]`. Each position writes the part of its value to
 * it that its key does not yet read: S = exp(g) S; S += b k (v - S^T k)^T. Then it reads y = S^T q / sqrt(keyDim). Queries
 * and keys have the length 1. The output is the projection of norm(y) * silu(z). Source: Yang et al. 2025, "Gated Delta
 * Networks: Improving Mamba2 with Delta Rule".
 */
export interface DeltaNet extends RecurrentLayer {
  kind: 'delta-net'
  /** Heads of queries and keys; each is shared by `valueHeads / keyHeads` heads of values. */
  keyHeads: number
  keyDim: number
  valueHeads: number
  valueDim: number
  /** Of queries, keys and values together. */
  convolution: Convolution
  normEps: number
  projections: readonly [
    queriesKeysValues: Projection,
    gate: Projection,
    decay: Projection,
    share: Projection,
    out: Projection,
  ]
  tensors: DeltaNetTensors
}

export interface DeltaNetTensors {
  /** Logarithm of the decay rate of each head. */
  decayLog: string
  /** Added to the decay of each head. */
  decayBias: string
  norm: string
}

/** Sizes of the heads, and what else a configuration says. */
export type DeltaNetSizes = Pick<DeltaNet, 'keyHeads' | 'keyDim' | 'valueHeads' | 'valueDim' | 'normEps'> & {
  hiddenSize: number
  /** Positions of the convolution. */
  width: number
}

/** @param prefix of the names of the tensors */
export function deltaNet(prefix: string, names: NormNames, {hiddenSize, width, ...sizes}: DeltaNetSizes): DeltaNet {
  const {keyHeads, keyDim, valueHeads, valueDim} = sizes
  const values = valueHeads * valueDim
  const channels = 2 * keyHeads * keyDim + values
  const convolution = {channels, width, kernel: `${prefix}.conv1d.weight`, bias: undefined}
  const from = (part: string, out: number): Projection => ({
    role: `delta_${part}`,
    name: `${prefix}.in_proj_${part}.weight`,
    shape: [out, hiddenSize],
  })
  return {
    kind: 'delta-net',
    names,
    ...sizes,
    convolution,
    states: [convolutionState(convolution), memoryState(valueHeads, keyDim, valueDim)],
    projections: [
      from('qkv', channels),
      from('z', values),
      from('a', valueHeads),
      from('b', valueHeads),
      {role: 'delta_out', name: `${prefix}.out_proj.weight`, shape: [hiddenSize, values]},
    ],
    tensors: {decayLog: `${prefix}.A_log`, decayBias: `${prefix}.dt_bias`, norm: `${prefix}.norm.weight`},
  }
}

export const buildDeltaNet: Block<DeltaNet> = (context, spec, x, states) => {
  const {graph, weight, project} = context
  const {keyHeads, keyDim, valueHeads, valueDim, convolution, normEps, tensors} = spec
  const [mixed, gate, decay, share, out] = spec.projections
  const [inputs, memory] = states as [StateValue, StateValue]
  const [keys, values] = [keyHeads * keyDim, valueHeads * valueDim]
  const convolved = silu(graph, convolve(context, convolution, project(x, mixed), inputs))
  const [q, k, v] = split(graph, convolved, [keys, keys, values]) as [Value, Value, Value]
  const rate = decayRates(context, tensors.decayLog, valueHeads)
  const [g, b] = graph.contribOutputs(
    'LinearAttentionGate',
    [project(x, decay), weight(tensors.decayBias, [valueHeads]), rate, project(x, share)],
    [true, true],
  )
  const [read, written] = graph.contribOutputs(
    'LinearAttention',
    // The factor of the scores is that of the queries.
    [unit(context, spec, q, keyDim ** -0.5), unit(context, spec, k, 1), v, memory.past, g, b],
    [true, memory.present],
    {update_rule: 'gated_delta', q_num_heads: keyHeads, kv_num_heads: valueHeads, scale: {float: 1}},
  )
  graph.output(memory.present, written, 'float32', ['batch', valueHeads, keyDim, valueDim])
  const heads = graph.node('Reshape', [read, graph.integers(0, 0, valueHeads, valueDim)])
  const normed = rmsNorm(graph, heads, weight(tensors.norm, [valueDim]), normEps)
  const flat = graph.node('Reshape', [normed, graph.integers(0, 0, values)])
  return project(graph.node('Mul', [flat, silu(graph, project(x, gate))]), out)
}

/** Added to the square of a length. */
const lengthEps = 1e-6

/** Queries or keys, each multiplied by a factor and divided by its length: an RMS norm whose mean is a sum. */
function unit({graph}: BlockContext, {keyHeads, keyDim}: DeltaNet, x: Value, factor: number): Value {
  const heads = graph.node('Reshape', [x, graph.integers(0, 0, keyHeads, keyDim)])
  const weights = graph.filled('float32', [keyDim], factor * keyDim ** -0.5)
  const units = rmsNorm(graph, heads, weights, lengthEps / keyDim)
  return graph.node('Reshape', [units, graph.integers(0, 0, keyHeads * keyDim)])
}
