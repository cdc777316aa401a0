import type {FloatDtype, FusedMatrix} from '../weights/index.js'
import type {NormNames} from './norm-names.js'
import type {Projection} from './projection.js'
import type {RecurrentSpec} from './recurrent/index.js'

export type {NormNames}

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
  /** Added to the weights of every RMS norm. */
  normOffset: 0 | 1
  /** Factor of the embeddings. */
  embeddingScale: number
  /** Factor of what attention and feed-forward add to the hidden state. */
  residualScale: number
  /** Factor of the logits. */
  logitScale: number
  /** Soft limit of the logits, cap * tanh(logit / cap); undefined: none. */
  logitCap: number | undefined
  layers: readonly LayerSpec[]
  /** What each layer gets of the tokens themselves; undefined: nothing. */
  layerInputs: LayerInputs | undefined
  tensors: DecoderTensors
  /** Matrices of which the projections of layers may be parts. */
  fused: readonly FusedMatrix[]
}

/**
 * One layer: x += postNorm(mixer(norm(x))); x += postNorm(mlp(norm(x))). Norms without a name are left out. What is
 * added is multiplied by `residualScale`. The mixer is attention or, in some layers of hybrid models, recurrent. With
 * `input`, x += postNorm(project(activation(gate(x)) * input)) and x *= scale follow.
 */
export type LayerSpec = {mlp: MlpSpec; input?: LayerInputSpec} & (
  | {attention: AttentionSpec; recurrent?: undefined}
  | {attention?: undefined; recurrent: RecurrentSpec}
)

/**
 * Inputs of the layers that depend on the tokens: for each layer, a part of a second embedding, and of a projection of the
 * first one, (norm(project(x)) + embedding) / sqrt(2). Both have the parts of all layers together.
 */
export interface LayerInputs {
  /** Elements for one layer. */
  size: number
  /** `[vocab_size, layers * size]`; multiplied by sqrt(size). */
  embedding: string
  /** `[layers * size, hidden_size]`; the product is divided by sqrt(hidden_size). */
  projection: string
  /** Of the part of a layer. */
  norm: string
}

/** Names of the tensors with which a layer uses its input. */
export interface LayerInputSpec {
  gate: string
  projection: string
  names: NormNames
  /** Factor of the hidden states after the layer, `[1]`. */
  scale: string
}

/** The attention of the layers that have it. */
export const attentionsOf = ({layers}: Pick<DecoderSpec, 'layers'>): AttentionSpec[] =>
  layers.flatMap(({attention}) => attention ?? [])

/** The projections of attention; those of keys and values only if they are its own. */
export function attentionProjections(attention: AttentionSpec, hiddenSize: number): Projection[] {
  const {heads, kvHeads, headDim, names, source} = attention
  const keys = (role: 'k' | 'v'): Projection => ({role, name: names[role], shape: [kvHeads * headDim, hiddenSize]})
  return [
    {role: 'q', name: names.q, shape: [queryRows(attention), hiddenSize]},
    ...(source === undefined ? [keys('k'), keys('v')] : []),
    {role: 'o', name: names.o, shape: [hiddenSize, heads * headDim]},
  ]
}

/** The projections with which layers get inputs of the tokens. */
export function inputProjections({hiddenSize, layers, layerInputs}: DecoderSpec): Projection[] {
  if (layerInputs === undefined) return []
  const {size, projection} = layerInputs
  const all: Projection = {role: 'inputs', name: projection, shape: [layers.length * size, hiddenSize]}
  return [all, ...layers.flatMap(({input}) => (input === undefined ? [] : inputParts(input, size, hiddenSize)))]
}

const inputParts = ({gate, projection}: LayerInputSpec, size: number, hiddenSize: number): Projection[] => [
  {role: 'input_gate', name: gate, shape: [size, hiddenSize]},
  {role: 'input', name: projection, shape: [hiddenSize, size]},
]

/** Rows of the projection of queries. */
export const queryRows = ({heads, headDim, isGated}: Pick<AttentionSpec, 'heads' | 'headDim' | 'isGated'>): number =>
  (isGated ? 2 : 1) * heads * headDim

export interface AttentionSpec {
  heads: number
  /** Key/value heads; each is shared by `heads / kvHeads` query heads. */
  kvHeads: number
  headDim: number
  /**
   * Whether the output of each head is multiplied by the sigmoid of a gate. The projection of queries has the rows of the
   * gate of each head after those of its query.
   */
  isGated: boolean
  /** Undefined: without positions. */
  rope: RopeSpec | undefined
  /** Factor of the scores; undefined: 1 / sqrt(headDim). */
  scale: number | undefined
  /** Soft limit of the scores, cap * tanh(score / cap); undefined: none. */
  cap: number | undefined
  /** Sliding window: a position attends to itself and the `window - 1` before it; undefined: to all before it. */
  window: number | undefined
  names: NormNames & {q: string; k: string; v: string; o: string}
  /** Projections with a bias; its tensor has the name of the weight with `.bias`. */
  biases: readonly ('q' | 'k' | 'v' | 'o')[]
  /** RMS norms of queries and keys before the rotary embedding: of each head, `[head_dim]`, or of all heads together. */
  headNorms: {q: string; k: string; span: 'head' | 'all'} | undefined
  /** Whether values have RMS norms of each head, without weights. */
  normsValues: boolean
  /** The layer whose keys and values it uses instead of own ones; undefined: none. */
  source: number | undefined
}

/** Activation of a feed-forward: x * sigmoid(x), or GELU, exact or with its approximation by tanh. */
export type Activation = 'silu' | 'gelu' | 'gelu-tanh'

export interface MlpSpec {
  intermediateSize: number
  activation: Activation
  names: NormNames
  /** Names of the projections of each expert; a plain feed-forward is the only one. */
  experts: readonly ExpertNames[]
  /** Undefined: without a choice. */
  routing: RoutingSpec | undefined
}

export interface ExpertNames {
  gate: string
  up: string
  down: string
}

/** The choice of the experts of a position: those with the largest shares, softmax(router(x)). */
export interface RoutingSpec {
  router: string
  /** Number of the experts of a position. */
  used: number
  /** Whether the shares of these are divided by their sum. */
  isNormalised: boolean
}

/**
 * Rotary embedding over the two halves of the first `dims` elements of a head: the angle of pair j at position p is
 * p * theta^(-2j / dims).
 */
export interface RopeSpec {
  theta: number
  dims: number
  scaling: RopeScaling
  /** Queries at position p are multiplied by 1 + beta * ln(1 + floor(p / originalContext)); undefined: by 1. */
  queryGrowth: {beta: number; originalContext: number} | undefined
}

/** Scaling of the angles that extends the original context length. */
export type RopeScaling =
  | {kind: 'none'}
  | {kind: 'dynamic'; factor: number; originalContext: number}
  | {kind: 'linear'; factor: number}
  | {
      kind: 'longrope'
      /** Divisors of the frequencies, `[dims / 2]`, for contexts of up to `originalContext` and for longer ones. */
      short: readonly number[]
      long: readonly number[]
      attentionFactor: number
      originalContext: number
    }
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
