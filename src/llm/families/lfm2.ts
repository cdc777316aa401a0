import {shortConvolution} from '../recurrent/short-convolution.js'
import type {ConfigReader} from './config-reader.js'
import {readDecoder} from './decoder.js'
import type {Family} from './family.js'

/** Names of the parts of a layer by their names in Llama. */
const renamed = {
  input_layernorm: 'operator_norm',
  'self_attn.o_proj': 'self_attn.out_proj',
  'self_attn.q_norm': 'self_attn.q_layernorm',
  'self_attn.k_norm': 'self_attn.k_layernorm',
  post_attention_layernorm: 'ffn_norm',
  'mlp.gate_proj': 'feed_forward.w1',
  'mlp.up_proj': 'feed_forward.w3',
  'mlp.down_proj': 'feed_forward.w2',
  norm: 'embedding_norm',
}

/** Keys that repeat others or that transformers does not read. */
const unused = [
  'block_dim',
  'block_norm_eps',
  'block_use_swiglu',
  'conv_dim',
  'conv_dim_out',
  'num_heads',
  'use_pos_enc',
]
const initial = ['block_mlp_init_scale', 'block_out_init_scale', 'block_use_xavier_init', 'conv_use_xavier_init']

/**
 * LFM2 and LFM2.5: most layers have a short convolution instead of attention. Source: Liquid AI 2025, "LFM2 Technical
 * Report".
 */
export const lfm2: Family = {
  name: 'LFM2',
  modelTypes: ['lfm2'],
  defaults: {
    ...{vocab_size: 65_536, hidden_size: 2560, intermediate_size: 12_288, num_hidden_layers: 32},
    ...{num_attention_heads: 32, num_key_value_heads: 8, max_position_embeddings: 128_000, rope_theta: 1_000_000},
  },
  read(config, has) {
    config.skip(...unused, ...initial)
    const isAttention = readAttention(config)
    const size = config.count('hidden_size')
    const [width, hasBiases] = [config.count('conv_L_cache', 3), config.flag('conv_bias', false)]
    return readDecoder('lfm2', config, has, {
      headNorms: 'head',
      renamed,
      normEps: ['norm_eps', 1e-5],
      intermediateSize: readIntermediateSize(config),
      isTied: config.optionalFlag('tie_embedding'),
      recurrent: (layer, prefix, names) =>
        isAttention(layer) ? undefined : shortConvolution(`${prefix}.conv`, names, {size, width, hasBiases}),
    })
  },
}

/** The layers with attention: those in `layer_types`, else those in `full_attn_idxs`, else all. */
function readAttention(config: ConfigReader): (layer: number) => boolean {
  const types = config.words('layer_types', 'full_attention', 'conv')
  const listed = config.integers('full_attn_idxs')
  if (types !== undefined) return (layer) => types[layer] !== 'conv'
  return (layer) => listed === undefined || listed.includes(layer)
}

/** Two thirds of the size in the configuration, times a factor, rounded up to a multiple; or that size. */
function readIntermediateSize(config: ConfigReader): number {
  const declared = config.optionalCount('block_ff_dim')
  const fallback = config.count('intermediate_size')
  const factor = config.optionalPositive('block_ffn_dim_multiplier') ?? 1
  const multiple = config.count('block_multiple_of', 256)
  const size = declared ?? fallback
  if (!config.flag('block_auto_adjust_ff_dim', true)) return size
  return Math.ceil(Math.floor(factor * Math.floor((2 * size) / 3)) / multiple) * multiple
}
