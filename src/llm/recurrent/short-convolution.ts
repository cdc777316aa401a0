import type {Value} from '../../onnx/index.js'
import type {NormNames} from '../norm-names.js'
import type {Projection} from '../projection.js'
import type {Block, RecurrentLayer, StateValue} from './block.js'
import {type Convolution, convolutionState, convolve} from './convolution.js'
import {projectBiased, split} from './parts.js'

/**
 * A gated convolution over a few positions: the input is projected to three parts b, c and u, and the output is the
 * projection of c * conv(b * u). Source: Liquid AI 2025, "LFM2 Technical Report".
 */
export interface ShortConvolution extends RecurrentLayer {
  kind: 'short-convolution'
  convolution: Convolution
  /** Whether the projections have biases. */
  hasBiases: boolean
  projections: readonly [into: Projection, out: Projection]
}

/** @param prefix of the names of the tensors */
export function shortConvolution(
  prefix: string,
  names: NormNames,
  {size, width, hasBiases}: {size: number; width: number; hasBiases: boolean},
): ShortConvolution {
  const convolution: Convolution = {
    channels: size,
    width,
    kernel: `${prefix}.conv.weight`,
    bias: hasBiases ? `${prefix}.conv.bias` : undefined,
  }
  return {
    kind: 'short-convolution',
    names,
    convolution,
    hasBiases,
    states: [convolutionState(convolution)],
    projections: [
      {role: 'conv_in', name: `${prefix}.in_proj.weight`, shape: [3 * size, size]},
      {role: 'conv_out', name: `${prefix}.out_proj.weight`, shape: [size, size]},
    ],
  }
}

export const buildShortConvolution: Block<ShortConvolution> = (context, spec, x, states) => {
  const {graph} = context
  const {convolution, hasBiases} = spec
  const [into, out] = spec.projections
  const project = (value: Value, projection: Projection) => projectBiased(context, value, projection, hasBiases)
  const {channels} = convolution
  const [b, c, u] = split(graph, project(x, into), [channels, channels, channels]) as [Value, Value, Value]
  const convolved = convolve(context, convolution, graph.node('Mul', [b, u]), states[0] as StateValue)
  return project(graph.node('Mul', [c, convolved]), out)
}
