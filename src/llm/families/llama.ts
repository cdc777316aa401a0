import {readDecoder} from './decoder.js'
import type {Family} from './family.js'

/**
 * Llama: RMS norms, rotary embedding, grouped-query attention and a SwiGLU feed-forward.
 * Source: Touvron et al. 2023; Dubey et al. 2024.
 */
export const llama: Family = {
  name: 'Llama',
  modelTypes: ['llama'],
  read(config, has) {
    config.words('layer_types', 'full_attention')
    return readDecoder('llama', config, has, {
      biases: config.flag('attention_bias', false) ? ['q', 'k', 'v', 'o'] : [],
    })
  },
}
