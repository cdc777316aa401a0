import type {Value} from '../../onnx/index.js'
import type {BlockContext, StateValue} from './block.js'
import {buildDeltaNet, type DeltaNet} from './delta-net.js'
import {buildMamba2, type Mamba2} from './mamba2.js'
import {buildShortConvolution, type ShortConvolution} from './short-convolution.js'

/** A recurrent layer of any kind. */
export type RecurrentSpec = ShortConvolution | DeltaNet | Mamba2

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
