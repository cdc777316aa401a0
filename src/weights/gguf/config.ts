import type {Architecture} from './architectures.js'
import type {GgufMetadata, GgufValue} from './header.js'

/** Keys of the metadata of an architecture, without its name, and the keys of `config.json` with the same meaning. */
const renamed: Readonly<Record<string, string>> = {
  context_length: 'max_position_embeddings',
  embedding_length: 'hidden_size',
  block_count: 'num_hidden_layers',
  feed_forward_length: 'intermediate_size',
  'attention.head_count': 'num_attention_heads',
  'attention.head_count_kv': 'num_key_value_heads',
  'attention.key_length': 'head_dim',
  'attention.layer_norm_rms_epsilon': 'rms_norm_eps',
  'rope.freq_base': 'rope_theta',
  expert_count: 'num_local_experts',
}

/** Keys that have no effect, or whose meaning is in the tensors or in other keys. */
const inert: ReadonlySet<string> = new Set([
  'vocab_size',
  'expert_used_count',
  'expert_shared_feed_forward_length',
  'ssm.inner_size',
  'rope.dimension_sections',
  'rope.scaling.finetuned',
  'rope.scaling.type',
  'rope.scaling.factor',
  'rope.scale_linear',
  'rope.scaling.original_context_length',
  'rope.scaling.yarn_beta_fast',
  'rope.scaling.yarn_beta_slow',
  'rope.scaling.yarn_log_multiplier',
])

/** How much queries grow beyond the original context; a part of the scaling. */
const growthKey = 'attention.temperature_scale'

/** Factors that have no effect if they are 1. */
const factors: ReadonlySet<string> = new Set([
  'rope.scaling.attn_factor',
  'rope.scaling.yarn_ext_factor',
  'rope.scaling.yarn_attn_factor',
])

/** Keys that have no effect with the same value as another key. */
const repeated: Readonly<Record<string, string>> = {
  'attention.value_length': 'attention.key_length',
  'rope.dimension_count': 'attention.key_length',
  'attention.value_length_swa': 'attention.key_length_swa',
  'rope.dimension_count_swa': 'attention.key_length_swa',
}

/** Divisors of the rotary frequencies of all contexts, or of short and of long ones. */
interface Divisors {
  all: readonly number[] | undefined
  short: readonly number[] | undefined
  long: readonly number[] | undefined
}

const dimensionKey = 'rope.dimension_count'
const attentionFactorKey = 'rope.scaling.attn_factor'

/**
 * The metadata of a model as its `config.json`. Keys without an equivalent keep their names, so that unknown ones are
 * refused.
 * @param vocabSize rows of the embedding
 * @param hasBias whether queries have a bias
 * @param divisors of the rotary frequencies, one per pair
 */
export function configOf(
  metadata: GgufMetadata,
  {modelType, keys = {}, declaresBiases = false, isPartlyRotated = false, implied}: Architecture,
  {vocabSize, hasBias, divisors}: {vocabSize: number; hasBias: boolean; divisors: Divisors},
): Record<string, unknown> {
  const prefix = `${metadata.get('general.architecture')}.`
  const own = ownKeys(metadata)
  const [embedding, heads] = [own.get('embedding_length'), own.get('attention.head_count')]
  const headDim = own.get('attention.key_length') ?? Number(embedding) / Number(heads)
  const isRepeated = (key: string, value: GgufValue) =>
    Object.hasOwn(repeated, key) && value === (own.get(repeated[key] as string) ?? headDim)
  const scaling = scalingOf(own, divisors)
  const dims = own.get(dimensionKey)
  const isInert = (key: string) =>
    (inert.has(key) && !Object.hasOwn(keys, key)) ||
    (key === growthKey && scaling !== undefined) ||
    (key === attentionFactorKey && divisors.long !== undefined) ||
    (key === dimensionKey && isPartlyRotated)
  const entries = [...own].flatMap(([key, value]) => {
    // A window of 0 is none; some files have it.
    if (key === 'attention.sliding_window' && value === 0) return []
    if (isInert(key) || isRepeated(key, value) || (factors.has(key) && value === 1)) return []
    return [[keys[key] ?? renamed[key] ?? `${prefix}${key}`, uniform(key, value)] as const]
  })
  return {
    model_type: modelType,
    ...Object.fromEntries(entries),
    ...implied?.(own),
    vocab_size: vocabSize,
    ...(declaresBiases ? {attention_bias: hasBias} : {}),
    ...(isPartlyRotated && dims !== undefined ? {partial_rotary_factor: Number(dims) / Number(headDim)} : {}),
    ...(scaling === undefined ? {} : {rope_scaling: scaling}),
  }
}

/** The metadata of the architecture, without its name. */
export function ownKeys(metadata: GgufMetadata): Map<string, GgufValue> {
  const prefix = `${metadata.get('general.architecture')}.`
  return new Map(
    [...metadata].flatMap(([key, value]) => (key.startsWith(prefix) ? [[key.slice(prefix.length), value]] : [])),
  )
}

/** Some values are lists with one of each layer. Layers without attention have no heads. */
function uniform(key: string, value: GgufValue): GgufValue {
  if (!Array.isArray(value)) return value
  const [first, ...others] = new Set(value.filter((each) => key !== 'attention.head_count_kv' || each !== 0))
  return first !== undefined && others.length === 0 ? first : value
}

/** `rope_scaling` of the configuration. */
function scalingOf(
  own: ReadonlyMap<string, GgufValue>,
  {all, short, long}: Divisors,
): Record<string, unknown> | undefined {
  const value = (key: string) => own.get(`rope.scaling.${key}`)
  const factor = value('factor') ?? own.get('rope.scale_linear')
  const type = value('type') ?? (factor === undefined || factor === 1 ? 'none' : 'linear')
  if (all !== undefined) return {rope_type: 'divided', divisors: all}
  if (short !== undefined && long !== undefined)
    return {
      rope_type: 'longrope',
      short_factor: short,
      long_factor: long,
      ...(own.has(attentionFactorKey) ? {attention_factor: own.get(attentionFactorKey)} : {}),
    }
  if (type === 'none' || factor === 0 || (type === 'linear' && (factor === undefined || factor === 1))) return undefined
  if (type === 'linear') return {rope_type: 'linear', factor}
  const others = {
    original_max_position_embeddings: value('original_context_length'),
    beta_fast: value('yarn_beta_fast'),
    beta_slow: value('yarn_beta_slow'),
    ...(value('yarn_log_multiplier') ? {mscale: 1, mscale_all_dim: value('yarn_log_multiplier')} : {}),
    ...(own.has(growthKey) ? {llama_4_scaling_beta: own.get(growthKey)} : {}),
  }
  return {rope_type: type, factor, ...others}
}
