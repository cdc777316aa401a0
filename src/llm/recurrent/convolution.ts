import type {Value} from '../../onnx/index.js'
import type {BlockContext, StateTensor, StateValue} from './block.js'

/** A causal convolution over a few positions, in which each channel has its own kernel. */
export interface Convolution {
  channels: number
  /** Positions of the kernel. */
  width: number
  /** Name of the kernels, `[channels, 1, width]`. */
  kernel: string
  /** Name of the biases, `[channels]`. */
  bias: string | undefined
}

/** The last inputs of a convolution. */
export const convolutionState = ({channels, width}: Convolution): StateTensor => ({
  name: 'inputs',
  shape: [width - 1, channels],
})

/** End of a slice that includes everything. */
const toTheEnd = 2 ** 31

/**
 * Adds a convolution to a graph, as products and sums of elements. Unlike in `Conv`, no rounding depends on the number of
 * positions, and `CausalConvWithState` takes 2.5 times as long on the CPU.
 * @param x `[batch, time, channels]`
 */
export function convolve(
  {graph, weight}: BlockContext,
  {channels, width, kernel, bias}: Convolution,
  x: Value,
  {past, present}: StateValue,
): Value {
  const inputs = graph.node('Concat', [past, x], {axis: 1})
  const slice = (from: number, to: number) => [inputs, ...[from, to, 1].map((bound) => graph.integers(bound))]
  graph.outputNode(present, 'Slice', slice(1 - width, toTheEnd), {}, 'float32', ['batch', width - 1, channels])
  const kernels = graph.node('Reshape', [weight(kernel, [channels, 1, width]), graph.integers(channels, width)])
  const products = Array.from({length: width}, (_, i) => {
    const shifted = i === width - 1 ? x : graph.node('Slice', slice(i, i - width + 1))
    return graph.node('Mul', [shifted, graph.node('Gather', [kernels, graph.integer(i)], {axis: 1})])
  })
  const sum = products.reduce((total, product) => graph.node('Add', [total, product]))
  return bias === undefined ? sum : graph.node('Add', [sum, weight(bias, [channels])])
}
