/**
 * Builds ONNX graphs and runs them in ONNX Runtime sessions, independent of any model family.
 */
export {ByteProducts} from './byte-products.js'
export {requireDevice} from './device.js'
export {type Attributes, type Dimension, GraphBuilder, type Value} from './graph.js'
export type {DataType} from './model.js'
export {modelPath} from './model-path.js'
export {hasByteProducts, largestWeight, obtainableMemory} from './processor.js'
export {
  booleans,
  type Device,
  type OnnxSession,
  openSession,
  runtimeVersion,
  type Tensor,
  tensor,
} from './session.js'
export {physicalCores} from './threads.js'
