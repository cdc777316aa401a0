import {readDecoder} from './decoder.js'
import type {Family} from './family.js'

/** Mistral: Llama with a sliding attention window in every layer. Source: Jiang et al. 2023. */
export const mistral: Family = {
  name: 'Mistral',
  modelTypes: ['mistral'],
  read(config, has) {
    const window = config.optionalCount('sliding_window')
    config.words('layer_types', window === undefined ? 'full_attention' : 'sliding_attention')
    return readDecoder('mistral', config, has, {window: () => window})
  },
}
