import type {ConfigReader} from './config-reader.js'
import {type DecoderTraits, readDecoder} from './decoder.js'
import type {Family} from './family.js'

/** Values of keys that the publishers omit. */
const defaults = {
  ...{hidden_size: 2304, intermediate_size: 9216, num_hidden_layers: 26, hidden_activation: 'gelu_pytorch_tanh'},
  ...{num_attention_heads: 8, num_key_value_heads: 4, head_dim: 256, query_pre_attn_scalar: 256, sliding_window: 4096},
}

/**
 * Gemma 2: norms before and after each part, whose weights are stored minus 1; scaled embeddings; soft limits of scores
 * and logits; a window in every other layer. Source: Gemma Team 2024, "Gemma 2".
 */
export const gemma2: Family = {
  name: 'Gemma 2',
  modelTypes: ['gemma2'],
  defaults: {
    ...defaults,
    ...{vocab_size: 256_000, max_position_embeddings: 8192, attn_logit_softcapping: 50, final_logit_softcapping: 30},
  },
  read: (config, has) =>
    readDecoder('gemma2', config, has, {...readCommon(config), window: readWindow(config, 2), norms: 'both'}),
}

/**
 * Gemma 3: RMS norms on each query and key head instead of the soft limits; a window in five of six layers, which have a
 * rotary embedding of their own. Source: Gemma Team 2025, "Gemma 3".
 */
export const gemma3: Family = {
  name: 'Gemma 3',
  modelTypes: ['gemma3_text'],
  defaults: {
    ...defaults,
    ...{vocab_size: 262_208, max_position_embeddings: 131_072, rope_theta: 1_000_000},
  },
  read(config, has) {
    config.only('use_bidirectional_attention', false)
    return readDecoder('gemma3_text', config, has, {
      ...readCommon(config),
      headNorms: 'head',
      window: readWindow(config, config.count('sliding_window_pattern', 6)),
      windowTheta: 10_000,
      norms: 'both',
    })
  },
}

/**
 * Gemma 4 of text, without experts: as Gemma 3, but each layer has an input that depends on the tokens. The last layers use
 * the keys and values of earlier ones. Layers without a window have larger heads, of which only some pairs are rotated.
 * Source: the Gemma 4 release of Google DeepMind 2026.
 */
export const gemma4: Family = {
  name: 'Gemma 4',
  modelTypes: ['gemma4_text'],
  defaults: {
    ...{vocab_size: 262_144, hidden_size: 2304, intermediate_size: 9216, num_hidden_layers: 30},
    ...{num_attention_heads: 8, num_key_value_heads: 4, head_dim: 256, global_head_dim: 512, sliding_window: 512},
    ...{hidden_activation: 'gelu_pytorch_tanh', max_position_embeddings: 131_072, hidden_size_per_layer_input: 256},
    rope_parameters: {
      sliding_attention: {rope_type: 'default', rope_theta: 10_000},
      full_attention: {rope_type: 'proportional', partial_rotary_factor: 0.25, rope_theta: 1_000_000},
    },
  },
  read(config, has) {
    for (const key of ['attention_k_eq_v', 'enable_moe_block', 'attention_bias']) config.only(key, false)
    // Used only with these; the last one is not used, because the types of the layers are a list.
    config.skip('sliding_window_pattern')
    config.skip('num_global_key_value_heads', 'num_experts', 'top_k_experts', 'moe_intermediate_size')
    // With `vision`, only the tokens of images are in both directions.
    config.only('use_bidirectional_attention', null, 'vision')
    config.only('vocab_size_per_layer_input', config.count('vocab_size'))
    const count = config.count('num_hidden_layers')
    const declared = readWindow(config, 6)
    // The last layer never has a window.
    const window = (layer: number) => (layer === count - 1 ? undefined : declared(layer))
    const firstShared = count - config.count('num_kv_shared_layers', 0, 0)
    const isShared = (layer: number) => layer >= firstShared
    const source = (layer: number) =>
      isShared(layer) ? lastLike(config, firstShared, (other) => window(other) === window(layer)) : undefined
    const widens = config.flag('use_double_wide_mlp', false)
    return readDecoder('gemma4_text', config, has, {
      scale: 1,
      activation: 'hidden_activation',
      embeddingScale: Math.sqrt(config.count('hidden_size')),
      logitCap: config.optionalPositive('final_logit_softcapping'),
      headNorms: 'head',
      normsValues: true,
      window,
      windowTheta: 10_000,
      fullHeadDim: config.count('global_head_dim'),
      norms: 'both',
      source,
      isDoubleWide: (layer) => widens && isShared(layer),
      layerInputSize: config.count('hidden_size_per_layer_input'),
    })
  },
}

/** The last of the first layers with a property. */
function lastLike(config: ConfigReader, count: number, isLike: (layer: number) => boolean): number {
  const found = Array.from({length: Math.max(0, count)}, (_, layer) => layer).findLast(isLike)
  if (found === undefined)
    throw config.invalid(`no layer before ${count} has keys and values for one of the last layers`)
  return found
}

function readCommon(config: ConfigReader): DecoderTraits {
  // Has no effect, because `hidden_activation` always has a value.
  config.word('hidden_act')
  return {
    biases: config.flag('attention_bias', false) ? ['q', 'k', 'v', 'o'] : [],
    scale: 1 / Math.sqrt(config.positive('query_pre_attn_scalar')),
    cap: config.optionalPositive('attn_logit_softcapping'),
    activation: 'hidden_activation',
    normOffset: 1,
    embeddingScale: Math.sqrt(config.count('hidden_size')),
    logitCap: config.optionalPositive('final_logit_softcapping'),
  }
}

/** Layers with a window: those in `layer_types`, else all but each one at the end of a period. */
function readWindow(config: ConfigReader, period: number): (layer: number) => number | undefined {
  const size = config.count('sliding_window')
  const types = config.words('layer_types', 'full_attention', 'sliding_attention')
  const windowed = (layer: number) =>
    types === undefined ? (layer + 1) % period !== 0 : types[layer] === 'sliding_attention'
  return (layer) => (windowed(layer) ? size : undefined)
}
