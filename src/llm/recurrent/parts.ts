import type {GraphBuilder, Value} from '../../onnx/index.js'
import type {Projection} from '../projection.js'
import type {BlockContext, StateTensor} from './block.js'

/** What linear attention keeps of a sequence: for each head, a matrix from keys to values. */
export const memoryState = (heads: number, keyDim: number, valueDim: number): StateTensor => ({
  name: 'memory',
  shape: [heads, keyDim, valueDim],
})

/** x W^T, and the bias next to the matrix if there is one. */
export function projectBiased(context: BlockContext, x: Value, projection: Projection, hasBias: boolean): Value {
  const product = context.project(x, projection)
  if (!hasBias) return product
  const {name, shape} = projection
  return context.graph.node('Add', [product, context.weight(name.replace(/weight$/, 'bias'), [shape[0]])])
}

/** Decay rates of heads, negative, by the name of their logarithms. */
export const decayRates = ({graph, weight}: BlockContext, logarithms: string, heads: number): Value =>
  graph.node('Neg', [graph.node('Exp', [weight(logarithms, [heads])])])

/** x * sigmoid(x). */
export const silu = (graph: GraphBuilder, x: Value): Value => graph.contrib('QuickGelu', [x], {alpha: {float: 1}})

/** The RMS norm over the last axis. With `GatedRMSNorm`, a gate after it takes 30 times as long on the CPU. */
export const rmsNorm = (graph: GraphBuilder, x: Value, weights: Value, epsilon: number): Value =>
  graph.node('SimplifiedLayerNormalization', [x, weights], {axis: -1, epsilon: {float: epsilon}})

/** Parts of the last axis. */
export const split = (graph: GraphBuilder, x: Value, sizes: readonly number[]): Value[] =>
  graph.several('Split', [x, graph.integers(...sizes)], sizes.length, {axis: -1})
