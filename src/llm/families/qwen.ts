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
