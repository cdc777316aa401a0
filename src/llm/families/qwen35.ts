import {deltaNet} from '../recurrent/delta-net.js'
import type {ConfigReader} from './config-reader.js'
import {readDecoder} from './decoder.js'
import type {Family} from './family.js'

/** Layers that predict further tokens, which are not used, and keys that transformers does not read. */
const unused = ['mtp_num_hidden_layers', 'mtp_use_dedicated_embeddings', 'mlp_only_layers', 'mamba_ssm_dtype']

/**
 * Qwen3.5: most layers have a Gated DeltaNet instead of attention, and attention has gates, norms on its heads and a rotary
 * embedding of a part of each head. The weights of norms are stored minus 1. Sources: Yang et al. 2025, "Gated Delta
 * Networks"; Qwen Team 2026.
 */
export const qwen35: Family = {
  name: 'Qwen3.5',
  modelTypes: ['qwen3_5_text'],
  defaults: {
    ...{vocab_size: 248_320, hidden_size: 4096, intermediate_size: 12_288, num_hidden_layers: 32, head_dim: 256},
    ...{num_attention_heads: 16, num_key_value_heads: 4, max_position_embeddings: 32_768, partial_rotary_factor: 0.25},
  },
  read(config, has) {
    config.skip(...unused)
    config.only('attn_output_gate', true)
    const isLinear = readLinear(config)
    const sizes = {
      hiddenSize: config.count('hidden_size'),
      keyHeads: config.count('linear_num_key_heads', 16),
      keyDim: config.count('linear_key_head_dim', 128),
      valueHeads: config.count('linear_num_value_heads', 32),
      valueDim: config.count('linear_value_head_dim', 128),
      width: config.count('linear_conv_kernel_dim', 4),
      normEps: config.positive('rms_norm_eps', 1e-6),
    }
    const {keyHeads, valueHeads} = sizes
    if (valueHeads % keyHeads !== 0)
      throw config.invalid(`linear_num_value_heads ${valueHeads} is not a multiple of linear_num_key_heads ${keyHeads}`)
    return readDecoder('qwen3_5_text', config, has, {
      biases: config.flag('attention_bias', false) ? ['q', 'k', 'v', 'o'] : [],
      isGated: true,
      headNorms: 'head',
      normOffset: 1,
      isPartlyRotated: true,
      hasImagePositions: true,
      recurrent: (layer, prefix, names) =>
        isLinear(layer) ? deltaNet(`${prefix}.linear_attn`, names, sizes) : undefined,
    })
  },
}

/** Layers without attention: those in `layer_types`, else all but each one at the end of a period. */
function readLinear(config: ConfigReader): (layer: number) => boolean {
  const types = config.words('layer_types', 'full_attention', 'linear_attention')
  const period = config.count('full_attention_interval', 4)
  return (layer) => (types === undefined ? (layer + 1) % period !== 0 : types[layer] === 'linear_attention')
}
