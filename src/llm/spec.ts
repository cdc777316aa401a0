import type {Dtype} from '../weights/index.js'

/** What a decoder computes, whatever family it came from. Dimensions are counts of elements. */
export interface DecoderSpec {
  /** `model_type` of the configuration it came from. */
  family: string
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
  mlp: MlpSpec
}

export interface AttentionSpec {
  heads: number
  /** Heads of keys and values; each serves `heads / kvHeads` query heads. */
  kvHeads: number
  headDim: number
  rope: RopeSpec
  /** A position attends to itself and the `window - 1` before it; undefined to all before it. */
  window: number | undefined
  names: {norm: string; q: string; k: string; v: string; o: string}
  /** Which projections add a bias, named like the weight with `.bias`. */
  biases: readonly ('q' | 'k' | 'v' | 'o')[]
  /** RMS norms of each query and key head before the rotation, `[head_dim]`. */
  headNorms: {q: string; k: string} | undefined
}

export interface MlpSpec {
  intermediateSize: number
  names: {norm: string; gate: string; up: string; down: string}
}

/** Rotary positions over the two halves of a head: the angle of pair j at position p is p * theta^(-2j / headDim). */
export interface RopeSpec {
  theta: number
  scaling: RopeScaling
}

/** How the angles are changed to reach further than the model was first trained for. */
export type RopeScaling =
  | {kind: 'none'}
  | {kind: 'linear'; factor: number}
  | {kind: 'llama3'; factor: number; lowFactor: number; highFactor: number; originalContext: number}
  | {
      kind: 'yarn'
      factor: number
      attentionFactor: number
      betaFast: number
      betaSlow: number
      originalContext: number
      truncate: boolean
    }

/** Names of the tensors outside the layers. A tied head is the embedding. */
export interface DecoderTensors {
  embedding: string
  norm: string
  head: string
}

/** Dtypes that weights may have; all are computed in 32-bit floats. */
export const weightDtypes = ['F32', 'F16', 'BF16'] as const satisfies readonly Dtype[]
