import {readDecoder} from './decoder.js'
import type {Family} from './family.js'

/**
 * OLMo 2: norms after attention and feed-forward instead of before them, and RMS norms over all queries and over all keys.
 * Source: OLMo Team 2024, "2 OLMo 2 Furious".
 */
export const olmo2: Family = {
  name: 'OLMo 2',
  modelTypes: ['olmo2'],
  defaults: {rms_norm_eps: 1e-5},
  read: (config, has) =>
    readDecoder('olmo2', config, has, {
      biases: config.flag('attention_bias', false) ? ['q', 'k', 'v', 'o'] : [],
      headNorms: 'all',
      norms: 'after',
    }),
}
