import type {TinyModel} from './tiny-model.js'

const single = {layout: 'single', layers: 3} as const

/**
 * A tiny model of each family, with what distinguishes it. Tests of logits, adapters, precision, merges, GGUF files and
 * equal bytes run over all of them.
 */
export const tinyFamilies: Readonly<Record<string, Partial<TinyModel>>> = {
  Llama: {...single, seed: 1},
  'Mistral with a window of 50': {...single, family: 'mistral', window: 50, seed: 7},
  'Qwen2 with biases': {...single, family: 'qwen2', tied: true, seed: 9},
  'Qwen3 with norms on its heads': {...single, family: 'qwen3', headDim: 32, seed: 11},
  'Gemma 2 with limits and a window of 30': {...single, family: 'gemma2', tied: true, window: 30, seed: 15},
  'Gemma 3 with two rotary embeddings': {
    ...single,
    family: 'gemma3_text',
    tied: true,
    window: 30,
    ropeScaling: {rope_type: 'linear', factor: 8},
    seed: 16,
  },
}
