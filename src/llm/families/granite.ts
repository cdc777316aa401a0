import {readDecoder} from './decoder.js'
import type {Family} from './family.js'

/** Granite 3: Llama with factors of embeddings, scores, residuals and logits. Source: Granite Team 2024, "Granite 3.0". */
export const granite: Family = {
  name: 'Granite 3',
  modelTypes: ['granite'],
  read: (config, has) =>
    readDecoder('granite', config, has, {
      biases: config.flag('attention_bias', false) ? ['q', 'k', 'v', 'o'] : [],
      scale: config.positive('attention_multiplier', 1),
      embeddingScale: config.positive('embedding_multiplier', 1),
      residualScale: config.positive('residual_multiplier', 1),
      logitScale: 1 / config.positive('logits_scaling', 1),
    }),
}
