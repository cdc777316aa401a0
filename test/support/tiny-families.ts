import type {TinyModel} from './tiny-model.js'

const single = {layout: 'single', layers: 3} as const

/** As Ministral 3, with a short original context. */
export const growingQueries = {
  ...{rope_type: 'yarn', factor: 16, original_max_position_embeddings: 64, beta_fast: 32, beta_slow: 1},
  ...{mscale: 1, mscale_all_dim: 1, llama_4_scaling_beta: 0.125},
}

/** Divisors for 12 of 16 elements of a head. */
export const longRope = {
  rope_type: 'longrope',
  short_factor: [1, 1.25, 1.5, 2, 2.5, 3],
  long_factor: [1, 1.5, 2, 4, 6, 8],
}

/**
 * A tiny model of each family, with what distinguishes it. Tests of logits, adapters, precision, merges, GGUF files and
 * equal bytes run over all of them.
 */
export const tinyFamilies: Readonly<Record<string, Partial<TinyModel>>> = {
  Llama: {...single, seed: 1},
  'Mistral with a window of 50': {...single, family: 'mistral', window: 50, seed: 7},
  'Qwen2 with biases': {...single, family: 'qwen2', tied: true, seed: 9},
  'Qwen3 with norms on its heads': {...single, family: 'qwen3', headDim: 32, seed: 11},
  'Qwen3-MoE with a plain layer': {
    ...single,
    family: 'qwen3_moe',
    config: {mlp_only_layers: [1], decoder_sparse_step: 1, router_aux_loss_coef: 0.001},
    seed: 12,
  },
  'Gemma 2 with limits and a window of 30': {...single, family: 'gemma2', tied: true, window: 30, seed: 15},
  'Gemma 3 with two rotary embeddings': {
    ...single,
    family: 'gemma3_text',
    tied: true,
    window: 30,
    ropeScaling: {rope_type: 'linear', factor: 8},
    seed: 16,
  },
  'Gemma 4 with inputs of its layers and shared keys': {
    ...single,
    family: 'gemma4_text',
    tied: true,
    layers: 4,
    window: 30,
    seed: 27,
  },
  'SmolLM3 without positions in its fourth layer': {...single, family: 'smollm3', tied: true, layers: 4, seed: 17},
  'OLMo 2 with norms after each part': {...single, family: 'olmo2', seed: 18},
  'Granite 3 with its factors': {...single, family: 'granite', tied: true, seed: 19},
  'Phi-3 with fused projections and a window of 50': {...single, family: 'phi3', window: 50, seed: 21},
  'Phi-4-mini with LongRoPE of a part of each head': {
    ...single,
    family: 'phi3',
    tied: true,
    ropeScaling: longRope,
    config: {original_max_position_embeddings: 256, partial_rotary_factor: 0.75},
    seed: 22,
  },
  'Qwen3.5 with Gated DeltaNet': {...single, family: 'qwen3_5_text', tied: true, seed: 25},
  'Granite 4 with Mamba 2': {...single, family: 'granitemoehybrid', tied: true, seed: 26},
  'LFM2 with short convolutions': {...single, family: 'lfm2', tied: true, seed: 24},
  'Ministral 3 with growing queries': {...single, family: 'ministral3', ropeScaling: growingQueries, seed: 20},
}
