import type {ConfigReader} from './config-reader.js'
import {readDecoder} from './decoder.js'
import type {Family} from './family.js'
import {readWindow} from './window.js'

/** SmolLM3: Llama without positions in every fourth layer. Source: Bakouch et al. 2025, "SmolLM3". */
export const smollm3: Family = {
  name: 'SmolLM3',
  modelTypes: ['smollm3'],
  defaults: {rope_theta: 2_000_000},
  read: (config, has) =>
    readDecoder('smollm3', config, has, {
      biases: config.flag('attention_bias', false) ? ['q', 'k', 'v', 'o'] : [],
      window: readWindow(config),
      isUnpositioned: readUnpositioned(config),
    }),
}

/** `no_rope_layers` has a 0 for each layer without positions; without it, every layer at the end of an interval has none. */
function readUnpositioned(config: ConfigReader): (layer: number) => boolean {
  const interval = config.count('no_rope_layer_interval', 4)
  const listed = config.integers('no_rope_layers')
  return (layer) => (listed === undefined ? (layer + 1) % interval === 0 : listed[layer] === 0)
}
