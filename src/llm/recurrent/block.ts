import type {GraphBuilder, Value} from '../../onnx/index.js'
import type {NormNames} from '../norm-names.js'
import type {Projection} from '../projection.js'

/**
 * A tensor of 32-bit floats that a recurrent layer keeps for each sequence instead of keys and values. Its size does not
 * depend on the length of the sequence, and it is zero before the first position.
 */
export interface StateTensor {
  /** Name within its layer. */
  name: string
  /** Shape for one sequence. */
  shape: readonly number[]
}

/** What all recurrent layers have in common. */
export interface RecurrentLayer {
  names: NormNames
  states: readonly StateTensor[]
  projections: readonly Projection[]
}

/** What a block needs of the graph that it is a part of. */
export interface BlockContext {
  graph: GraphBuilder
  /** A tensor as 32-bit floats. @throws tensor_missing, tensor_shape, tensor_dtype */
  weight(name: string, shape: readonly number[]): Value
  /** x W^T, with the updates of adapters. @throws tensor_missing, tensor_shape, tensor_dtype */
  project(x: Value, projection: Projection): Value
}

/** A state before a run, and the name of the graph output with the state after it. */
export interface StateValue {
  /** `[batch, ...shape]` */
  past: Value
  present: string
}

/**
 * Adds a recurrent layer to a graph.
 *
 * Every run has the same number of positions for each sequence, and no padding. A block writes each state to a graph
 * output with the given name, in memory that it may share with the past. So the output must be written by one node, and
 * nothing may read the past after it. Results must not depend on the other sequences.
 *
 * @param x normalised hidden states, `[batch, time, hidden]`
 * @param states in the order of the specification
 * @returns what is added to the hidden states, `[batch, time, hidden]`
 */
export type Block<Spec extends RecurrentLayer> = (
  context: BlockContext,
  spec: Spec,
  x: Value,
  states: readonly StateValue[],
) => Value

/** Elements of a state. */
export const stateSize = ({shape}: StateTensor): number => shape.reduce((product, size) => product * size, 1)
