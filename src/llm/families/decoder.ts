import type {AttentionSpec, DecoderSpec, LayerSpec} from '../spec.js'
import type {ConfigReader} from './config-reader.js'
import {readRope} from './rope-config.js'

/** Differences between the decoder families. */
export interface DecoderTraits {
  biases: AttentionSpec['biases']
  /** Whether each query and key head has an RMS norm. */
  headNorms: boolean
  /** Sliding attention window of a layer, if it has one. */
  window(layer: number): number | undefined
}

/** Prefixes of tensor names: of a plain decoder, and of the text part of a multimodal model. */
export const textRoots = ['model', 'model.language_model'] as const

/** Reads the properties that are common to all decoder families. Tensor names are those of transformers. */
export function readDecoder(
  family: string,
  config: ConfigReader,
  has: (tensor: string) => boolean,
  {biases, headNorms, window}: DecoderTraits,
): DecoderSpec {
  const hiddenSize = config.count('hidden_size')
  const heads = config.count('num_attention_heads')
  const kvHeads = config.count('num_key_value_heads', heads)
  const headDim = config.count('head_dim', hiddenSize / heads)
  if (heads % kvHeads !== 0)
    throw config.invalid(`num_attention_heads ${heads} is not a multiple of num_key_value_heads ${kvHeads}`)
  if (headDim % 2 !== 0) throw config.invalid(`head_dim ${headDim} is odd`)
  config.only('hidden_act', 'silu', 'swish')
  config.only('mlp_bias', false)
  const contextLength = config.count('max_position_embeddings', 2048)
  const rope = readRope(config, contextLength)
  const {scaling} = rope
  if (scaling.kind === 'divided' && scaling.divisors.length !== headDim / 2)
    throw config.invalid(`the rotary embedding has ${scaling.divisors.length} divisors, but head_dim is ${headDim}`)
  const intermediateSize = config.count('intermediate_size', 4 * hiddenSize)
  const [whole, part] = textRoots
  const root = has(`${part}.layers.0.input_layernorm.weight`) ? part : whole

  const layer = (i: number): LayerSpec => {
    const prefix = `${root}.layers.${i}`
    return {
      attention: {
        heads,
        kvHeads,
        headDim,
        rope,
        window: window(i),
        biases,
        names: {
          norm: `${prefix}.input_layernorm.weight`,
          q: `${prefix}.self_attn.q_proj.weight`,
          k: `${prefix}.self_attn.k_proj.weight`,
          v: `${prefix}.self_attn.v_proj.weight`,
          o: `${prefix}.self_attn.o_proj.weight`,
        },
        headNorms: headNorms
          ? {q: `${prefix}.self_attn.q_norm.weight`, k: `${prefix}.self_attn.k_norm.weight`}
          : undefined,
      },
      mlp: {
        intermediateSize,
        names: {
          norm: `${prefix}.post_attention_layernorm.weight`,
          gate: `${prefix}.mlp.gate_proj.weight`,
          up: `${prefix}.mlp.up_proj.weight`,
          down: `${prefix}.mlp.down_proj.weight`,
        },
      },
    }
  }
  const embedding = `${root}.embed_tokens.weight`
  const tied = config.optionalFlag('tie_word_embeddings') ?? !has('lm_head.weight')
  return {
    family,
    vocabSize: config.count('vocab_size'),
    hiddenSize,
    contextLength,
    normEps: config.positive('rms_norm_eps', 1e-6),
    layers: Array.from({length: config.count('num_hidden_layers')}, (_, i) => layer(i)),
    tensors: {embedding, norm: `${root}.norm.weight`, head: tied ? embedding : 'lm_head.weight'},
  }
}
