import type {Value} from '../../onnx/index.js'
import type {Block, RecurrentLayer, StateValue} from './block.js'

/**
 * A gated convolution over a few positions: the input is projected to three parts b, c and u, and the output is the
 * projection of c * conv(b * u), where each channel has its own kernel. Its state is the last inputs of the convolution,
 * `[width - 1, hidden]`. Source: Liquid AI 2025, "LFM2 Technical Report".
 */
export interface ShortConvolution extends RecurrentLayer {
  kind: 'short-convolution'
  size: number
  /** Positions of the kernel. */
  width: number
  /** Name of the kernels, `[size, 1, width]`. */
  kernel: string
  hasBiases: boolean
}

/** @param prefix of the names of the tensors */
export function shortConvolution(
  prefix: string,
  {size, width, hasBiases}: Pick<ShortConvolution, 'size' | 'width' | 'hasBiases'>,
): Omit<ShortConvolution, 'names'> {
  return {
    kind: 'short-convolution',
    size,
    width,
    hasBiases,
    kernel: `${prefix}.conv.weight`,
    states: [{name: 'inputs', shape: [width - 1, size]}],
    projections: [
      {role: 'conv_in', name: `${prefix}.in_proj.weight`, shape: [3 * size, size]},
      {role: 'conv_out', name: `${prefix}.out_proj.weight`, shape: [size, size]},
    ],
  }
}

/** End of a slice that includes everything. */
const toTheEnd = 2 ** 31

export const buildShortConvolution: Block<ShortConvolution> = (context, spec, x, states) => {
  const {graph} = context
  const {size, width, kernel, hasBiases} = spec
  const [into, out] = spec.projections as [(typeof spec.projections)[0], (typeof spec.projections)[0]]
  const [state] = states as [StateValue]
  const biased = (value: Value, name: string, count: number) =>
    hasBiases ? graph.node('Add', [value, context.weight(name.replace(/weight$/, 'bias'), [count])]) : value
  const parts = biased(context.project(x, into), into.name, 3 * size)
  const part = (i: number) =>
    graph.node('Slice', [parts, graph.integers(i * size), graph.integers((i + 1) * size), graph.integers(2)])
  const inputs = graph.node('Concat', [state.past, graph.node('Mul', [part(0), part(2)])], {axis: 1})
  graph.outputNode(
    state.present,
    'Slice',
    [inputs, graph.integers(1 - width), graph.integers(toTheEnd), graph.integers(1)],
    {},
    'float32',
    ['batch', width - 1, size],
  )
  const time = graph.node('Shape', [x], {start: 1, end: 2})
  const kernels = graph.node('Reshape', [context.weight(kernel, [size, 1, width]), graph.integers(size, width)])
  // Half the time of CausalConvWithState of the runtime, which needs the channels before the positions.
  let sum: Value | undefined
  for (let i = 0; i < width; i++) {
    const end = graph.node('Add', [time, graph.integers(i)])
    const shifted = graph.node('Slice', [inputs, graph.integers(i), end, graph.integers(1)])
    const product = graph.node('Mul', [shifted, graph.node('Gather', [kernels, graph.integer(i)], {axis: 1})])
    sum = sum === undefined ? product : graph.node('Add', [sum, product])
  }
  const convolved = biased(sum as Value, kernel, size)
  return biased(context.project(graph.node('Mul', [part(1), convolved]), out), out.name, size)
}
