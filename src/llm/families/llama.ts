import type {DecoderSpec, LayerSpec} from '../spec.js'
import type {ConfigReader} from './config-reader.js'
import type {Family} from './family.js'

/**
 * Llama: RMS norms, rotary positions, grouped-query attention and a SwiGLU feed-forward, without biases.
 * Source: Touvron et al. 2023; tensor names as in transformers' `LlamaForCausalLM`.
 */
export const llama: Family = {
  name: 'Llama',
  modelTypes: ['llama'],
  read(config) {
    const hiddenSize = config.count('hidden_size')
    const heads = config.count('num_attention_heads')
    const kvHeads = config.count('num_key_value_heads', heads)
    const headDim = config.count('head_dim', hiddenSize / heads)
    if (heads % kvHeads !== 0)
      throw config.invalid(`num_attention_heads ${heads} is no multiple of num_key_value_heads ${kvHeads}`)
    if (headDim % 2 !== 0) throw config.invalid(`head_dim ${headDim} is odd`)
    config.only('hidden_act', 'silu', 'swish')
    config.only('attention_bias', false)
    config.only('mlp_bias', false)
    config.only('rope_scaling')
    const layer = {
      attention: {heads, kvHeads, headDim, rope: {theta: readTheta(config)}},
      mlp: {intermediateSize: config.count('intermediate_size', 4 * hiddenSize)},
    }
    const embedding = 'model.embed_tokens.weight'
    return {
      vocabSize: config.count('vocab_size'),
      hiddenSize,
      contextLength: config.count('max_position_embeddings', 2048),
      normEps: config.positive('rms_norm_eps', 1e-6),
      layers: Array.from({length: config.count('num_hidden_layers')}, (_, i) => named(layer, `model.layers.${i}`)),
      tensors: {
        embedding,
        norm: 'model.norm.weight',
        head: config.flag('tie_word_embeddings', false) ? embedding : 'lm_head.weight',
      },
    } satisfies DecoderSpec
  },
}

/** `rope_parameters` of newer configurations, else `rope_theta`; only the unscaled form. */
function readTheta(config: ConfigReader): number {
  const parameters = config.table('rope_parameters')
  parameters.only('rope_type', 'default')
  parameters.only('partial_rotary_factor', 1)
  const theta = parameters.positive('rope_theta', config.positive('rope_theta', 10_000))
  parameters.refuseUnread()
  return theta
}

type Unnamed<T> = Omit<T, 'names'>

const named = (
  {attention, mlp}: {attention: Unnamed<LayerSpec['attention']>; mlp: Unnamed<LayerSpec['mlp']>},
  prefix: string,
): LayerSpec => ({
  attention: {
    ...attention,
    names: {
      norm: `${prefix}.input_layernorm.weight`,
      q: `${prefix}.self_attn.q_proj.weight`,
      k: `${prefix}.self_attn.k_proj.weight`,
      v: `${prefix}.self_attn.v_proj.weight`,
      o: `${prefix}.self_attn.o_proj.weight`,
    },
  },
  mlp: {
    ...mlp,
    names: {
      norm: `${prefix}.post_attention_layernorm.weight`,
      gate: `${prefix}.mlp.gate_proj.weight`,
      up: `${prefix}.mlp.up_proj.weight`,
      down: `${prefix}.mlp.down_proj.weight`,
    },
  },
})
