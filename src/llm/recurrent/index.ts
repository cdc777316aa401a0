import type {Value} from '../../onnx/index.js'
import type {BlockContext, RecurrentSpec, StateValue} from './block.js'
import {buildShortConvolution} from './short-convolution.js'

/** Adds a recurrent layer of any kind to a graph; see `Block`. */
export function buildRecurrent(
  context: BlockContext,
  spec: RecurrentSpec,
  x: Value,
  states: readonly StateValue[],
): Value {
  return buildShortConvolution(context, spec, x, states)
}
