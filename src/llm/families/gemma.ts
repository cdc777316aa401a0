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
