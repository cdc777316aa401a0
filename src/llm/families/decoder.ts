import type {FusedMatrix} from '../../weights/index.js'
import type {RecurrentSpec} from '../recurrent/index.js'
import {
  type Activation,
  type AttentionSpec,
  type DecoderSpec,
  type ExpertNames,
  type LayerInputSpec,
  type LayerInputs,
  type LayerSpec,
  type MlpSpec,
  type NormNames,
  queryRows,
  type RopeSpec,
} from '../spec.js'
import type {ConfigReader} from './config-reader.js'
import {type Ropes, readRopes} from './rope-config.js'

/** What a family has other than Llama; absent traits are those of Llama. */
export interface DecoderTraits {
  biases?: AttentionSpec['biases']
  /** Whether the output of each head of attention has a gate. */
  isGated?: boolean
  /** RMS norms of queries and keys. */
  headNorms?: 'head' | 'all' | undefined
  /** Sliding attention window of a layer, if it has one. */
  window?(layer: number): number | undefined
  /** Whether a layer has no positions. */
  isUnpositioned?(layer: number): boolean
  /** Base of the rotary embedding of layers with a window, if they have another one; a default for its key. */
  windowTheta?: number
  /** Head dimension of layers without a window, if they have another one. */
  fullHeadDim?: number
  /** Whether values have RMS norms without weights. */
  normsValues?: boolean
  /** The layer whose keys and values a layer uses instead of own ones. */
  source?(layer: number): number | undefined
  /** Elements of the input of a layer that depends on the tokens, if layers have one. */
  layerInputSize?: number
  /** Whether only a part of each head may be rotated. */
  isPartlyRotated?: boolean
  /** Names of matrices: of queries, keys and values together, and of gate and up projections together. */
  fused?: {attention?: string; mlp?: string}
  /** Whether the rotary embedding has parts for positions in images. */
  hasImagePositions?: boolean
  /** Whether queries may grow with their position. */
  hasQueryGrowth?: boolean
  /** Factor of the scores. */
  scale?: number
  /** Soft limit of the scores. */
  cap?: number | undefined
  /** Key of the activation. */
  activation?: 'hidden_act' | 'hidden_activation'
  /** Where the RMS norms of a layer are: before attention and feed-forward, after them, or both. */
  norms?: keyof typeof normNames
  /** Names of parts of a layer, or of the last norm, by their names in Llama. */
  renamed?: Readonly<Record<string, string>>
  /** Key of the epsilon of every RMS norm, and its default. */
  normEps?: readonly [key: string, fallback: number]
  /** What a layer has instead of attention, if it is recurrent. @param prefix of the names of the layer */
  recurrent?(layer: number, prefix: string, names: NormNames): RecurrentSpec | undefined
  /** Whether the head is the embedding, if the configuration has another key for that. */
  isTied?: boolean | undefined
  /** Size of the feed-forwards; default: `intermediate_size`. */
  intermediateSize?: number
  /** Whether the feed-forward of a layer has twice that size. */
  isDoubleWide?(layer: number): boolean
  experts?: ExpertTraits
  normOffset?: DecoderSpec['normOffset']
  embeddingScale?: number
  residualScale?: number
  logitScale?: number
  logitCap?: number | undefined
}

/** Experts of the feed-forwards of some layers. */
export interface ExpertTraits {
  count: number
  used: number
  isNormalised: boolean
  intermediateSize: number
  isIn(layer: number): boolean
}

/** Names of activations in configurations. */
const activations: Readonly<Record<string, Activation>> = {
  silu: 'silu',
  swish: 'silu',
  gelu: 'gelu',
  gelu_pytorch_tanh: 'gelu-tanh',
}

/** Prefixes of tensor names: of a plain decoder, and of the text part of a multimodal model. */
export const textRoots = ['model', 'model.language_model', 'language_model.model'] as const

const headNames = ['lm_head.weight', 'language_model.lm_head.weight'] as const

export const embeddingOf = (root: string): string => `${root}.embed_tokens.weight`

/** Names of the norms of a layer, in attention and in feed-forward. */
const normNames = {
  before: {attention: ['input_layernorm', undefined], mlp: ['post_attention_layernorm', undefined]},
  after: {attention: [undefined, 'post_attention_layernorm'], mlp: [undefined, 'post_feedforward_layernorm']},
  both: {
    attention: ['input_layernorm', 'post_attention_layernorm'],
    mlp: ['pre_feedforward_layernorm', 'post_feedforward_layernorm'],
  },
} as const

/** Reads the properties that are common to all decoder families. Tensor names are those of transformers. */
export function readDecoder(
  family: string,
  config: ConfigReader,
  has: (tensor: string) => boolean,
  traits: DecoderTraits,
): DecoderSpec {
  const hiddenSize = config.count('hidden_size')
  const sizes = readHeads(config, hiddenSize)
  config.only('mlp_bias', false)
  const activation = readActivation(config, traits.activation ?? 'hidden_act')
  const contextLength = config.count('max_position_embeddings', 2048)
  const ropes = readRopes(config, {...traits, headDim: sizes.headDim, contextLength})
  const commonSize = traits.intermediateSize ?? config.count('intermediate_size', 4 * hiddenSize)
  const {renamed = {}, normEps = ['rms_norm_eps', 1e-6]} = traits
  const root = textRoots.find((each) => has(embeddingOf(each))) ?? textRoots[0]
  const embedding = embeddingOf(root)
  const layers = Array.from({length: config.count('num_hidden_layers')}, (_, i): LayerSpec => {
    const prefix = `${root}.layers.${i}`
    const names = new LayerNames(prefix, traits.norms ?? 'before', renamed)
    const intermediateSize = (traits.isDoubleWide?.(i) ? 2 : 1) * commonSize
    const mlp = {intermediateSize, activation, ...names.mlp(traits.experts?.isIn(i) ? traits.experts : undefined)}
    const recurrent = traits.recurrent?.(i, prefix, names.normNames('attention'))
    const input = traits.layerInputSize === undefined ? {} : {input: names.input()}
    if (recurrent !== undefined) return {recurrent, mlp, ...input}
    const attention = {...sizes, ...attentionOf(traits, ropes, i), ...names.attention(traits.headNorms)}
    return {attention, mlp, ...input}
  })
  const declared = config.optionalFlag('tie_word_embeddings')
  const tied = traits.isTied ?? declared ?? !headNames.some(has)
  return {
    family,
    vocabSize: config.count('vocab_size'),
    hiddenSize,
    contextLength: extendedContext(contextLength, ropes.full),
    normEps: config.positive(...normEps),
    normOffset: traits.normOffset ?? 0,
    embeddingScale: traits.embeddingScale ?? 1,
    residualScale: traits.residualScale ?? 1,
    logitScale: traits.logitScale ?? 1,
    logitCap: traits.logitCap,
    layers,
    layerInputs: traits.layerInputSize === undefined ? undefined : inputNames(root, traits.layerInputSize),
    fused: layers.flatMap((layer) => fusedOf(layer, traits.fused ?? {})),
    tensors: {
      embedding,
      norm: `${root}.${renamed.norm ?? 'norm'}.weight`,
      head: tied ? embedding : (headNames.find(has) ?? headNames[0]),
    },
  }
}

function readHeads(config: ConfigReader, hiddenSize: number): Pick<AttentionSpec, 'heads' | 'kvHeads' | 'headDim'> {
  const heads = config.count('num_attention_heads')
  const kvHeads = config.count('num_key_value_heads', heads)
  const headDim = config.count('head_dim', hiddenSize / heads)
  if (heads % kvHeads !== 0)
    throw config.invalid(`num_attention_heads ${heads} is not a multiple of num_key_value_heads ${kvHeads}`)
  if (headDim % 2 !== 0) throw config.invalid(`head_dim ${headDim} is odd`)
  return {heads, kvHeads, headDim}
}

/** The positions of a model, whose `max_position_embeddings` are the original ones with dynamic scaling. */
const extendedContext = (positions: number, {scaling}: RopeSpec) =>
  scaling.kind === 'dynamic' ? Math.floor(Math.max(positions, scaling.originalContext * scaling.factor)) : positions

function readActivation(config: ConfigReader, key: string): Activation {
  config.only(key, ...Object.keys(activations))
  return activations[config.word(key) ?? 'silu'] as Activation
}

/** The properties of the attention of a layer that are not common to all of them. */
type LayerAttention = Omit<AttentionSpec, 'heads' | 'kvHeads' | 'headDim' | 'names' | 'headNorms'> &
  Partial<Pick<AttentionSpec, 'headDim'>>

function attentionOf(traits: DecoderTraits, ropes: Ropes, layer: number): LayerAttention {
  const {biases = [], isGated = false, normsValues = false, scale, cap, fullHeadDim} = traits
  const window = traits.window?.(layer)
  const rope = traits.isUnpositioned?.(layer) ? undefined : window === undefined ? ropes.full : ropes.windowed
  const headDim = window === undefined && fullHeadDim !== undefined ? {headDim: fullHeadDim} : {}
  return {biases, isGated, normsValues, scale, cap, window, rope, source: traits.source?.(layer), ...headDim}
}

const inputNames = (root: string, size: number): LayerInputs => ({
  size,
  embedding: `${root}.embed_tokens_per_layer.weight`,
  projection: `${root}.per_layer_model_projection.weight`,
  norm: `${root}.per_layer_projection_norm.weight`,
})

/** The fused matrices of a layer. */
function fusedOf({attention, mlp}: LayerSpec, fused: NonNullable<DecoderTraits['fused']>): FusedMatrix[] {
  const [{gate, up}] = mlp.experts as readonly [ExpertNames]
  const matrices: FusedMatrix[] = []
  if (fused.attention !== undefined && attention !== undefined) {
    const {kvHeads, headDim, names} = attention
    const rowsOf = {q: queryRows(attention), k: kvHeads * headDim, v: kvHeads * headDim}
    const parts = (['q', 'k', 'v'] as const).map((which) => ({name: names[which], rows: rowsOf[which]}))
    matrices.push({name: names.q.replace('q_proj', fused.attention), parts})
  }
  if (fused.mlp !== undefined) {
    const parts = [gate, up].map((name) => ({name, rows: mlp.intermediateSize}))
    matrices.push({name: gate.replace('gate_proj', fused.mlp), parts})
  }
  return matrices
}

/** Names of the tensors of a layer. */
class LayerNames {
  readonly #prefix: string
  readonly #norms: keyof typeof normNames
  readonly #renamed: Readonly<Record<string, string>>

  /** @param renamed names of parts by their names in Llama */
  constructor(prefix: string, norms: keyof typeof normNames, renamed: Readonly<Record<string, string>>) {
    this.#prefix = prefix
    this.#norms = norms
    this.#renamed = renamed
  }

  attention(headNorms: DecoderTraits['headNorms']): Pick<AttentionSpec, 'names' | 'headNorms'> {
    const name = (part: string) => this.#name(`self_attn.${part}`)
    return {
      names: {
        ...this.normNames('attention'),
        q: name('q_proj'),
        k: name('k_proj'),
        v: name('v_proj'),
        o: name('o_proj'),
      },
      headNorms: headNorms && {q: name('q_norm'), k: name('k_norm'), span: headNorms},
    }
  }

  /** @param traits of the experts of this layer, if it has them */
  mlp(traits: ExpertTraits | undefined): Omit<MlpSpec, 'intermediateSize' | 'activation'> & Partial<MlpSpec> {
    const names = this.normNames('mlp')
    const expert = (of: string): ExpertNames => ({
      gate: this.#name(`${of}.gate_proj`),
      up: this.#name(`${of}.up_proj`),
      down: this.#name(`${of}.down_proj`),
    })
    if (traits === undefined) return {names, experts: [expert('mlp')], routing: undefined}
    const {count, used, isNormalised, intermediateSize} = traits
    return {
      intermediateSize,
      names,
      experts: Array.from({length: count}, (_, i) => expert(`mlp.experts.${i}`)),
      routing: {router: this.#name('mlp.gate'), used: Math.min(used, count), isNormalised},
    }
  }

  input(): LayerInputSpec {
    return {
      gate: this.#name('per_layer_input_gate'),
      projection: this.#name('per_layer_projection'),
      names: {norm: undefined, postNorm: this.#name('post_per_layer_input_norm')},
      scale: `${this.#prefix}.layer_scalar`,
    }
  }

  normNames(part: 'attention' | 'mlp'): NormNames {
    const [norm, postNorm] = normNames[this.#norms][part]
    const name = (short: string | undefined) => short && this.#name(short)
    return {norm: name(norm), postNorm: name(postNorm)}
  }

  #name(part: string): string {
    return `${this.#prefix}.${this.#renamed[part] ?? part}.weight`
  }
}
