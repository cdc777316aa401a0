import {readDecoder} from './decoder.js'
import type {Family} from './family.js'

const fused = {attention: 'qkv_proj', mlp: 'gate_up_proj'}

/**
 * Phi-3 and Phi-4-mini: Llama with fused projections, LongRoPE, and a rotary embedding of a part of each head. Sources: Abdin
 * et al. 2024; Abouelenin et al. 2025.
 */
export const phi3: Family = {
  name: 'Phi-3 and Phi-4-mini',
  modelTypes: ['phi3'],
  defaults: {rms_norm_eps: 1e-5},
  read(config, has) {
    for (const key of ['attention_bias', 'lm_head_bias']) config.only(key, false)
    for (const key of ['full_attn_mod', 'interpolate_factor']) config.only(key, 1)
    const window = config.optionalCount('sliding_window')
    return readDecoder('phi3', config, has, {window: () => window, isPartlyRotated: true, fused})
  },
}
