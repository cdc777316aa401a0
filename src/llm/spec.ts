import type {Dtype} from '../weights/index.js'

/** What a decoder computes, whatever family it came from. Dimensions are counts of elements. */
export interface DecoderSpec {
  vocabSize: number
  hiddenSize: number
  /** Positions the model was trained for. */
  contextLength: number
  /** Epsilon of every RMS norm. */
  normEps: number
  layers: readonly LayerSpec[]
  tensors: DecoderTensors
}

/** One layer: x += attention(norm(x)); x += mlp(norm(x)). */
export interface LayerSpec {
  attention: AttentionSpec
  mlp: {intermediateSize: number; names: {norm: string; gate: string; up: string; down: string}}
}

export interface AttentionSpec {
  heads: number
  /** Heads of keys and values; each serves `heads / kvHeads` query heads. */
  kvHeads: number
  headDim: number
  rope: RopeSpec
  names: {norm: string; q: string; k: string; v: string; o: string}
}

/** Rotary positions over the two halves of a head: the angle of pair j at position p is p * theta^(-2j / headDim). */
export interface RopeSpec {
  theta: number
}

/** Names of the tensors outside the layers. A tied head is the embedding. */
export interface DecoderTensors {
  embedding: string
  norm: string
  head: string
}

/** Dtypes that weights may have; all are computed in 32-bit floats. */
export const weightDtypes = ['F32', 'F16', 'BF16'] as const satisfies readonly Dtype[]
