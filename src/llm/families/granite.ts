import {type Mamba2Sizes, mamba2} from '../recurrent/mamba2.js'
import type {ConfigReader} from './config-reader.js'
import {type DecoderTraits, readDecoder} from './decoder.js'
import type {Family} from './family.js'

/** Granite 3: Llama with factors of embeddings, scores, residuals and logits. Source: Granite Team 2024, "Granite 3.0". */
export const granite: Family = {
  name: 'Granite 3',
  modelTypes: ['granite'],
  read: (config, has) => readDecoder('granite', config, has, readCommon(config)),
}

const readCommon = (config: ConfigReader): DecoderTraits => ({
  biases: config.flag('attention_bias', false) ? ['q', 'k', 'v', 'o'] : [],
  scale: config.positive('attention_multiplier', 1),
  embeddingScale: config.positive('embedding_multiplier', 1),
  residualScale: config.positive('residual_multiplier', 1),
  logitScale: 1 / config.positive('logits_scaling', 1),
})

/** Names of the parts of a layer by their names in Llama. Gate and up projections are one matrix. */
const renamed = {
  'mlp.gate_proj': 'shared_mlp.gate_proj',
  'mlp.up_proj': 'shared_mlp.up_proj',
  'mlp.down_proj': 'shared_mlp.output_linear',
}

/** Of experts, of the computation in chunks, and of training. */
const unused = ['num_experts_per_tok', 'intermediate_size', 'mamba_chunk_size', 'router_aux_loss_coef', 'init_method']

/**
 * Granite 4 without experts: as Granite 3, but most layers of some models have Mamba 2 instead of attention, and then the
 * others have no positions. Sources: Dao, Gu 2024; Granite Team 2025, "Granite 4.0".
 */
export const granite4: Family = {
  name: 'Granite 4',
  modelTypes: ['granitemoehybrid'],
  defaults: {
    ...{vocab_size: 32_000, hidden_size: 4096, num_hidden_layers: 32, num_attention_heads: 32, num_local_experts: 8},
    ...{shared_intermediate_size: 1024, mamba_n_heads: 128, mamba_d_state: 256, mamba_d_head: 'auto'},
  },
  read(config, has) {
    config.skip(...unused)
    config.only('num_local_experts', 0)
    config.only('normalization_function', 'rmsnorm')
    config.only('position_embedding_type', 'nope', 'rope')
    const hasPositions = config.word('position_embedding_type') === 'rope'
    const types = config.words('layer_types', 'mamba', 'attention', 'linear_attention', 'full_attention')
    const isAttention = (layer: number) => types?.[layer]?.endsWith('attention') && types[layer] !== 'linear_attention'
    const sizes = readMamba(config)
    return readDecoder('granitemoehybrid', config, has, {
      ...readCommon(config),
      renamed,
      fused: {mlp: 'input_linear'},
      intermediateSize: config.count('shared_intermediate_size'),
      isUnpositioned: () => !hasPositions,
      recurrent: (layer, prefix, names) => (isAttention(layer) ? undefined : mamba2(`${prefix}.mamba`, names, sizes)),
    })
  },
}

function readMamba(config: ConfigReader): Mamba2Sizes {
  const hiddenSize = config.count('hidden_size')
  const heads = config.count('mamba_n_heads')
  const inner = config.count('mamba_expand', 2) * hiddenSize
  if (inner % heads !== 0)
    throw config.invalid(`mamba_expand * hidden_size ${inner} is not a multiple of ${heads} heads`)
  config.only('mamba_d_head', 'auto', inner / heads)
  const groups = config.count('mamba_n_groups', 1)
  if (heads % groups !== 0) throw config.invalid(`mamba_n_heads ${heads} is not a multiple of mamba_n_groups ${groups}`)
  return {
    hiddenSize,
    heads,
    headDim: inner / heads,
    groups,
    stateSize: config.count('mamba_d_state'),
    width: config.count('mamba_d_conv', 4),
    normEps: config.positive('rms_norm_eps', 1e-6),
    hasBiases: config.flag('mamba_proj_bias', false),
    hasConvolutionBias: config.flag('mamba_conv_bias', true),
  }
}
