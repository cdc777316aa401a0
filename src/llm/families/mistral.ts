import type {ConfigReader} from './config-reader.js'
import {readDecoder} from './decoder.js'
import type {Family} from './family.js'

/** Mistral: Llama with a sliding attention window in every layer. Source: Jiang et al. 2023. */
export const mistral: Family = {
  name: 'Mistral',
  modelTypes: ['mistral'],
  read: (config, has) => readDecoder('mistral', config, has, {window: readWindow(config)}),
}

/**
 * Ministral 3: queries grow with their position beyond the original context. Source: Mistral AI 2025; the growth is that
 * of Llama 4.
 */
export const ministral3: Family = {
  name: 'Ministral 3',
  modelTypes: ['ministral3'],
  defaults: {rope_theta: 1_000_000},
  read: (config, has) => readDecoder('ministral3', config, has, {window: readWindow(config), hasQueryGrowth: true}),
}

function readWindow(config: ConfigReader): () => number | undefined {
  const window = config.optionalCount('sliding_window')
  config.words('layer_types', window === undefined ? 'full_attention' : 'sliding_attention')
  return () => window
}
