import type {GraphBuilder, Value} from '../../onnx/index.js'
import type {StateTensor} from './block.js'

/** What linear attention keeps of a sequence: for each head, a matrix from keys to values. */
export const memoryState = (heads: number, keyDim: number, valueDim: number): StateTensor => ({
  name: 'memory',
  shape: [heads, keyDim, valueDim],
})

/** x * sigmoid(x). */
export const silu = (graph: GraphBuilder, x: Value): Value => graph.contrib('QuickGelu', [x], {alpha: {float: 1}})

/** The RMS norm over the last axis. With `GatedRMSNorm`, a gate after it takes 30 times as long on the CPU. */
export const rmsNorm = (graph: GraphBuilder, x: Value, weights: Value, epsilon: number): Value =>
  graph.node('SimplifiedLayerNormalization', [x, weights], {axis: -1, epsilon: {float: epsilon}})

/** Parts of the last axis. */
export const split = (graph: GraphBuilder, x: Value, sizes: readonly number[]): Value[] =>
  graph.several('Split', [x, graph.integers(...sizes)], sizes.length, {axis: -1})
