import type {FloatDtype} from '../weights/index.js'

/** The computation of a decoder, independent of its family. Dimensions are numbers of elements. */
export interface DecoderSpec {
  /** `model_type` of the configuration. */
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
  /** Key/value heads; each is shared by `heads / kvHeads` query heads. */
  kvHeads: number
  headDim: number
  rope: RopeSpec
  /** Sliding window: a position attends to itself and the `window - 1` before it; undefined: to all before it. */
  window: number | undefined
  names: {norm: string; q: string; k: string; v: string; o: string}
  /** Projections with a bias; its tensor has the name of the weight with `.bias`. */
  biases: readonly ('q' | 'k' | 'v' | 'o')[]
  /** RMS norms of each query and key head before the rotary embedding, `[head_dim]`. */
  headNorms: {q: string; k: string} | undefined
}

export interface MlpSpec {
  intermediateSize: number
  names: {norm: string; gate: string; up: string; down: string}
}

/** Rotary embedding over the two halves of a head: the angle of pair j at position p is p * theta^(-2j / headDim). */
export interface RopeSpec {
  theta: number
  scaling: RopeScaling
}

/** Scaling of the angles that extends the original context length. */
export type RopeScaling =
  | {kind: 'none'}
  | {kind: 'linear'; factor: number}
  | {kind: 'divided'; divisors: readonly number[]}
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

/** Names of the tensors outside the layers. For a tied head, `head` is the embedding. */
export interface DecoderTensors {
  embedding: string
  norm: string
  head: string
}

/** Supported dtypes of weights; all are computed as 32-bit floats. */
export const weightDtypes = ['F32', 'F16', 'BF16'] as const satisfies readonly FloatDtype[]
