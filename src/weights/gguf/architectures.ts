import type {GgufMetadata, GgufValue} from './header.js'

/** An architecture of llama.cpp whose computation is that of a model type of transformers. */
export interface Architecture {
  /** `model_type` of its `config.json`. */
  modelType: string
  /** Class of transformers. */
  className: string
  /**
   * Parts of a layer with other names in transformers than those of Llama, with or without what their tensors are; `*` is the
   * number of an expert.
   */
  parts?: Readonly<Record<string, string>>
  /** Tensors outside the layers with other names in transformers than those of Llama. */
  outside?: Readonly<Record<string, string>>
  /** Keys of the metadata, without its name, that only it has, and the keys of `config.json` with the same meaning. */
  keys?: Readonly<Record<string, string>>
  /** Whether the rows of queries and keys alternate between the halves of their heads. */
  alternates?: boolean
  /** Added to the weights of the norms, compared with transformers. */
  normOffset?: number
  /** Whether the configuration says that queries, keys and values have biases. */
  declaresBiases?: boolean
  /** Whether only a part of each head may be rotated. */
  isPartlyRotated?: boolean
  /** Why a model cannot be read, if it cannot. */
  refused?(own: ReadonlyMap<string, GgufValue>): string | undefined
  /** What its code in llama.cpp sets by other keys. */
  implied?(own: ReadonlyMap<string, GgufValue>): Readonly<Record<string, unknown>>
}

/** Norms after attention and feed-forward. */
const postNorms = {
  post_attention_norm: 'post_attention_layernorm',
  post_ffw_norm: 'post_feedforward_layernorm',
}

/** Norms before and after them. */
const bothNorms = {...postNorms, ffn_norm: 'pre_feedforward_layernorm'}

/** Scores are scaled by the size of a head, but in the largest model by the hidden size per head. */
const gemmaScale = (largest: number) => (own: ReadonlyMap<string, GgufValue>) => {
  const size = (key: string) => Number(own.get(key))
  const perHead = size('embedding_length') / size('attention.head_count')
  return {query_pre_attn_scalar: size('block_count') === largest ? perHead : size('attention.key_length')}
}

/** The types of the layers of a hybrid model: those without heads of keys have no attention. */
function mixersOf(own: ReadonlyMap<string, GgufValue>, attention: string, other: string): string[] {
  const heads = own.get('attention.head_count_kv')
  const count = Number(own.get('block_count'))
  return Array.from({length: count}, (_, i) => ((Array.isArray(heads) ? heads[i] : heads) === 0 ? other : attention))
}

/** The types of the layers, and the sizes of their feed-forwards. The file has the frequencies of one type in a tensor. */
function gemma4Layers(own: ReadonlyMap<string, GgufValue>): Readonly<Record<string, unknown>> {
  const windowed = [own.get('attention.sliding_window_pattern') ?? []].flat()
  const sizes = [own.get('feed_forward_length') ?? []].flat()
  return {
    layer_types: windowed.map((each) => (each ? 'sliding_attention' : 'full_attention')),
    intermediate_size: sizes[0],
    use_double_wide_mlp: sizes.at(-1) !== sizes[0],
    rope_parameters: {},
  }
}

const graniteKeys = {
  embedding_scale: 'embedding_multiplier',
  residual_scale: 'residual_multiplier',
  logit_scale: 'logits_scaling',
  'attention.scale': 'attention_multiplier',
}

/** The architectures by name. */
const architectures: Readonly<Record<string, Architecture>> = {
  llama: {modelType: 'llama', className: 'LlamaForCausalLM', alternates: true, declaresBiases: true},
  qwen2: {modelType: 'qwen2', className: 'Qwen2ForCausalLM'},
  qwen3: {modelType: 'qwen3', className: 'Qwen3ForCausalLM', declaresBiases: true},
  qwen3moe: {
    modelType: 'qwen3_moe',
    className: 'Qwen3MoeForCausalLM',
    parts: {
      ffn_gate_inp: 'mlp.gate',
      ffn_gate_exps: 'mlp.experts.*.gate_proj',
      ffn_up_exps: 'mlp.experts.*.up_proj',
      ffn_down_exps: 'mlp.experts.*.down_proj',
    },
    keys: {
      expert_count: 'num_experts',
      expert_used_count: 'num_experts_per_tok',
      expert_feed_forward_length: 'moe_intermediate_size',
    },
    declaresBiases: true,
    implied: () => ({norm_topk_prob: true}),
  },
  qwen35: {
    modelType: 'qwen3_5_text',
    className: 'Qwen3_5ForCausalLM',
    parts: {
      post_attention_norm: 'post_attention_layernorm',
      attn_qkv: 'linear_attn.in_proj_qkv',
      attn_gate: 'linear_attn.in_proj_z',
      ssm_alpha: 'linear_attn.in_proj_a',
      ssm_beta: 'linear_attn.in_proj_b',
      ssm_conv1d: 'linear_attn.conv1d',
      'ssm_dt.bias': 'linear_attn.dt_bias',
      ssm_a: 'linear_attn.A_log',
      ssm_norm: 'linear_attn.norm',
      ssm_out: 'linear_attn.out_proj',
    },
    keys: {
      full_attention_interval: 'full_attention_interval',
      'ssm.conv_kernel': 'linear_conv_kernel_dim',
      'ssm.state_size': 'linear_key_head_dim',
      'ssm.group_count': 'linear_num_key_heads',
      'ssm.time_step_rank': 'linear_num_value_heads',
    },
    normOffset: 1,
    declaresBiases: true,
    isPartlyRotated: true,
    implied: (own) => ({
      linear_value_head_dim: Number(own.get('ssm.inner_size')) / Number(own.get('ssm.time_step_rank')),
    }),
  },
  gemma2: {
    modelType: 'gemma2',
    className: 'Gemma2ForCausalLM',
    parts: bothNorms,
    keys: {
      'attention.sliding_window': 'sliding_window',
      attn_logit_softcapping: 'attn_logit_softcapping',
      final_logit_softcapping: 'final_logit_softcapping',
    },
    normOffset: 1,
    implied: gemmaScale(46),
  },
  gemma3: {
    modelType: 'gemma3_text',
    className: 'Gemma3ForCausalLM',
    parts: bothNorms,
    keys: {
      'attention.sliding_window': 'sliding_window',
      'attention.sliding_window_pattern': 'sliding_window_pattern',
      'rope.freq_base_swa': 'rope_local_base_freq',
    },
    normOffset: 1,
    implied: gemmaScale(62),
  },
  gemma4: {
    modelType: 'gemma4_text',
    className: 'Gemma4ForCausalLM',
    parts: {
      ...bothNorms,
      inp_gate: 'per_layer_input_gate',
      proj: 'per_layer_projection',
      post_norm: 'post_per_layer_input_norm',
      'layer_output_scale.weight': 'layer_scalar',
    },
    outside: {
      'per_layer_token_embd.weight': 'model.embed_tokens_per_layer.weight',
      'per_layer_model_proj.weight': 'model.per_layer_model_projection.weight',
      'per_layer_proj_norm.weight': 'model.per_layer_projection_norm.weight',
    },
    keys: {
      'attention.key_length': 'global_head_dim',
      'attention.key_length_swa': 'head_dim',
      'attention.sliding_window': 'sliding_window',
      'attention.sliding_window_pattern': 'sliding_window_pattern',
      'attention.shared_kv_layers': 'num_kv_shared_layers',
      embedding_length_per_layer_input: 'hidden_size_per_layer_input',
      final_logit_softcapping: 'final_logit_softcapping',
      'rope.freq_base_swa': 'rope_local_base_freq',
    },
    refused: (own) => (Number(own.get('expert_count') ?? 0) === 0 ? undefined : 'Gemma 4 with experts'),
    implied: gemma4Layers,
  },
  smollm3: {modelType: 'smollm3', className: 'SmolLM3ForCausalLM', alternates: true, declaresBiases: true},
  olmo2: {modelType: 'olmo2', className: 'Olmo2ForCausalLM', parts: postNorms, declaresBiases: true},
  granite: {
    modelType: 'granite',
    className: 'GraniteForCausalLM',
    keys: graniteKeys,
    alternates: true,
    declaresBiases: true,
  },
  granitehybrid: {
    modelType: 'granitemoehybrid',
    className: 'GraniteMoeHybridForCausalLM',
    parts: {
      ssm_in: 'mamba.in_proj',
      ssm_conv1d: 'mamba.conv1d',
      'ssm_dt.bias': 'mamba.dt_bias',
      ssm_a: 'mamba.A_log',
      ssm_d: 'mamba.D',
      ssm_norm: 'mamba.norm',
      ssm_out: 'mamba.out_proj',
      ffn_gate: 'shared_mlp.gate_proj',
      ffn_up: 'shared_mlp.up_proj',
      ffn_down: 'shared_mlp.output_linear',
    },
    keys: {
      ...graniteKeys,
      feed_forward_length: 'shared_intermediate_size',
      'ssm.conv_kernel': 'mamba_d_conv',
      'ssm.state_size': 'mamba_d_state',
      'ssm.group_count': 'mamba_n_groups',
      'ssm.time_step_rank': 'mamba_n_heads',
    },
    alternates: true,
    declaresBiases: true,
    implied: (own) => ({
      num_local_experts: 0,
      layer_types: mixersOf(own, 'attention', 'mamba'),
      position_embedding_type: own.get('rope.scaling.finetuned') === true ? 'rope' : 'nope',
      mamba_expand: Number(own.get('ssm.inner_size')) / Number(own.get('embedding_length')),
    }),
  },
  phi3: {
    modelType: 'phi3',
    className: 'Phi3ForCausalLM',
    parts: {attn_qkv: 'self_attn.qkv_proj', ffn_up: 'mlp.gate_up_proj'},
    keys: {
      'attention.sliding_window': 'sliding_window',
      'rope.scaling.original_context_length': 'original_max_position_embeddings',
    },
    isPartlyRotated: true,
  },
  mistral3: {
    modelType: 'ministral3',
    className: 'Ministral3ForCausalLM',
    keys: {'attention.sliding_window': 'sliding_window'},
    alternates: true,
  },
  lfm2: {
    modelType: 'lfm2',
    className: 'Lfm2ForCausalLM',
    parts: {
      attn_norm: 'operator_norm',
      attn_output: 'self_attn.out_proj',
      attn_q_norm: 'self_attn.q_layernorm',
      attn_k_norm: 'self_attn.k_layernorm',
      'shortconv.conv': 'conv.conv',
      'shortconv.in_proj': 'conv.in_proj',
      'shortconv.out_proj': 'conv.out_proj',
      ffn_norm: 'ffn_norm',
      ffn_gate: 'feed_forward.w1',
      ffn_up: 'feed_forward.w3',
      ffn_down: 'feed_forward.w2',
    },
    // The former is that of llama.cpp, the latter that of Ollama.
    outside: {
      'token_embd_norm.weight': 'model.embedding_norm.weight',
      'output_norm.weight': 'model.embedding_norm.weight',
    },
    keys: {'attention.layer_norm_rms_epsilon': 'norm_eps', 'shortconv.l_cache': 'conv_L_cache'},
    implied: (own) => ({block_auto_adjust_ff_dim: false, layer_types: mixersOf(own, 'full_attention', 'conv')}),
  },
}

export const ggufArchitectures: readonly string[] = Object.keys(architectures)

/** Key of the window of all layers of a model of Mistral. */
const mistralWindow = 'attention.sliding_window'

/** Mistral is `llama` in llama.cpp, which ignores its window. */
const mistral: Architecture = {
  modelType: 'mistral',
  className: 'MistralForCausalLM',
  keys: {[mistralWindow]: 'sliding_window'},
  alternates: true,
}

/** @param metadata of the file; a `llama` with a window is a Mistral */
export function architectureOf(name: string, metadata: GgufMetadata): Architecture | undefined {
  if (name === 'llama' && Number(metadata.get(`llama.${mistralWindow}`) ?? 0) > 0) return mistral
  return Object.hasOwn(architectures, name) ? architectures[name] : undefined
}

/** The name in llama.cpp of the architecture with a `model_type`, and what it is there. */
export function architectureFor(modelType: string): {name: string; architecture: Architecture} | undefined {
  if (modelType === mistral.modelType) return {name: 'llama', architecture: mistral}
  const [found] = Object.entries(architectures).filter(([, each]) => each.modelType === modelType)
  return found && {name: found[0], architecture: found[1]}
}

/** The class of transformers for a `model_type`. */
export const classNameOf = (modelType: unknown): string | undefined =>
  architectureFor(String(modelType))?.architecture.className
