import type {Value} from '../../onnx/index.js'
import type {BlockContext, RecurrentSpec, StateValue} from './block.js'
import {buildDeltaNet} from './delta-net.js'
import {buildMamba2} from './mamba2.js'
import {buildShortConvolution} from './short-convolution.js'

/** Adds a recurrent layer of any kind to a graph; see `Block`. */
export function buildRecurrent(
  context: BlockContext,
  spec: RecurrentSpec,
  x: Value,
  states: readonly StateValue[],
): Value {
  switch (spec.kind) {
    case 'short-convolution':
      return buildShortConvolution(context, spec, x, states)
    case 'delta-net':
      return buildDeltaNet(context, spec, x, states)
    case 'mamba2':
      return buildMamba2(context, spec, x, states)
  }
}
