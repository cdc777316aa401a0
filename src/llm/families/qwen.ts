import {readDecoder} from './decoder.js'
import type {Family} from './family.js'
import {readWindow} from './window.js'

/** Qwen2 and Qwen2.5: Llama with biases on queries, keys and values. Source: Yang et al. 2024. */
export const qwen2: Family = {
  name: 'Qwen2',
  modelTypes: ['qwen2'],
  read: (config, has) => readDecoder('qwen2', config, has, {biases: ['q', 'k', 'v'], window: readWindow(config)}),
}

/** Qwen3: RMS norms on each query and key head instead of the biases. Source: Yang et al. 2025. */
export const qwen3: Family = {
  name: 'Qwen3',
  modelTypes: ['qwen3', 'qwen3_text'],
  read: (config, has) =>
    readDecoder('qwen3', config, has, {
      biases: config.flag('attention_bias', false) ? ['q', 'k', 'v', 'o'] : [],
      headNorms: 'head',
      window: readWindow(config),
    }),
}

/**
 * Qwen3 with experts: in some layers, each position uses a few of many feed-forwards. Source: Yang et al. 2025.
 */
export const qwen3Moe: Family = {
  name: 'Qwen3-MoE',
  modelTypes: ['qwen3_moe'],
  defaults: {num_experts: 128, num_experts_per_tok: 8, moe_intermediate_size: 768},
  read(config, has) {
    // Used only in training.
    config.optionalNumber('router_aux_loss_coef')
    const step = config.count('decoder_sparse_step', 1)
    const plain = config.integers('mlp_only_layers') ?? []
    return readDecoder('qwen3_moe', config, has, {
      biases: config.flag('attention_bias', false) ? ['q', 'k', 'v', 'o'] : [],
      headNorms: 'head',
      window: readWindow(config),
      experts: {
        count: config.count('num_experts'),
        used: config.count('num_experts_per_tok'),
        isNormalised: config.flag('norm_topk_prob', false),
        intermediateSize: config.count('moe_intermediate_size'),
        isIn: (layer) => !plain.includes(layer) && (layer + 1) % step === 0,
      },
    })
  },
}
