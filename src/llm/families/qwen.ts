import type {ConfigReader} from './config-reader.js'
import {readDecoder} from './decoder.js'
import type {Family} from './family.js'

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

/** Layers with a sliding window: those in `layer_types`, else those from `max_window_layers` on. */
function readWindow(config: ConfigReader): (layer: number) => number | undefined {
  const used = config.flag('use_sliding_window', false)
  const size = config.optionalCount('sliding_window')
  const first = config.optionalNumber('max_window_layers') ?? 0
  const types = config.words('layer_types', 'full_attention', 'sliding_attention')
  if (!used || size === undefined) return () => undefined
  const windowed = (layer: number) => (types === undefined ? layer >= first : types[layer] === 'sliding_attention')
  return (layer) => (windowed(layer) ? size : undefined)
}
