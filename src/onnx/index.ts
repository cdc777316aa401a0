/**
 * ONNX graphs, written from typed nodes, and the sessions that run them. Nothing here knows what a graph computes.
 */
export {requireDevice} from './device.js'
export {type Attributes, type Dimension, GraphBuilder, type Value} from './graph.js'
export type {DataType} from './model.js'
export {modelPath} from './model-path.js'
export {
  booleans,
  type Device,
  openSession,
  type Session,
  type Tensor,
  tensor,
} from './session.js'
export {physicalCores} from './threads.js'
