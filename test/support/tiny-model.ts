import {type FloatDtype, floatBytes, safetensorsFile} from './safetensors-file.js'
import {writeFiles} from './temporary.js'

export type TinyFamily =
  | 'llama'
  | 'mistral'
  | 'qwen2'
  | 'qwen3'
  | 'qwen3_moe'
  | 'gemma2'
  | 'gemma3_text'
  | 'gemma4_text'
  | 'smollm3'
  | 'olmo2'
  | 'granite'
  | 'ministral3'
  | 'phi3'
  | 'lfm2'
  | 'qwen3_5_text'
  | 'granitemoehybrid'

export interface TinyModel {
  family: TinyFamily
  vocabSize: number
  hiddenSize: number
  intermediateSize: number
  layers: number
  heads: number
  kvHeads: number
  headDim: number
  contextLength: number
  ropeTheta: number
  /** `rope_scaling` of the configuration. */
  ropeScaling: Readonly<Record<string, number | string | readonly number[]>> | null
  /** Attention window, in positions. */
  window: number | null
  /** First layer with a window, for the families that configure it. */
  firstWindowed: number
  tied: boolean
  /** Keys of the configuration that are added or replaced. */
  config: Readonly<Record<string, unknown>>
  dtype: FloatDtype
  /** Files of the weights: a single file, or numbered files with or without an index. */
  layout: 'single' | 'indexed' | 'numbered'
  seed: number
}

export const tinyModel: TinyModel = {
  family: 'llama',
  vocabSize: 257,
  hiddenSize: 48,
  intermediateSize: 80,
  layers: 2,
  heads: 4,
  kvHeads: 2,
  headDim: 16,
  contextLength: 1024,
  ropeTheta: 10_000,
  ropeScaling: null,
  window: null,
  firstWindowed: 0,
  tied: false,
  config: {},
  dtype: 'F32',
  layout: 'indexed',
  seed: 1,
}

/** Projections with a bias, by family. */
export const biasesOf = ({family}: TinyModel): readonly ('q' | 'k' | 'v')[] =>
  family === 'qwen2' ? ['q', 'k', 'v'] : []

export const isGemma = ({family}: Pick<TinyModel, 'family'>): boolean => family.startsWith('gemma')

/** Whether 1 is added to the weights of norms, except for that of Gated DeltaNet. */
export const addsToNorms = (model: Pick<TinyModel, 'family'>): boolean =>
  (isGemma(model) && model.family !== 'gemma4_text') || model.family === 'qwen3_5_text'

/** Layers of Gemma 4 without a window, whose heads have twice the size: every other one, and the last one. */
export const isWideIn = ({family, layers}: Pick<TinyModel, 'family' | 'layers'>, layer: number): boolean =>
  family === 'gemma4_text' && (layer % 2 === 1 || layer === layers - 1)

/** The layer whose keys and values a layer of Gemma 4 uses: the last two layers have none. */
export function sourceIn(model: Pick<TinyModel, 'family' | 'layers'>, layer: number): number | undefined {
  const first = model.layers - sharedLayers
  if (model.family !== 'gemma4_text' || layer < first) return undefined
  return Array.from({length: first}, (_, i) => i).findLast((i) => isWideIn(model, i) === isWideIn(model, layer))
}

/** Layers of Gemma 4 without keys and values, and elements of the inputs of its layers. */
export const [sharedLayers, layerInputSize] = [2, 16]

const graniteFactors = {
  ...{embedding_multiplier: 3, residual_multiplier: 0.5, logits_scaling: 4, attention_multiplier: 0.1875},
}

/** Small limits, so that the scores and the logits of a random model reach them. */
const familyConfig: Readonly<Partial<Record<TinyFamily, object>>> = {
  gemma2: {query_pre_attn_scalar: 24, attn_logit_softcapping: 2, final_logit_softcapping: 5},
  gemma3_text: {query_pre_attn_scalar: 24, sliding_window_pattern: 2, rope_local_base_freq: 1000},
  gemma4_text: {
    ...{final_logit_softcapping: 5, hidden_size_per_layer_input: layerInputSize, num_kv_shared_layers: sharedLayers},
    ...{use_double_wide_mlp: true, attention_k_eq_v: false, enable_moe_block: false},
  },
  qwen3_moe: {num_experts: 4, num_experts_per_tok: 2, moe_intermediate_size: 40, norm_topk_prob: true},
  // In LFM2, the epsilon has another name.
  lfm2: {rms_norm_eps: undefined, norm_eps: 1e-5, conv_L_cache: 3, block_auto_adjust_ff_dim: false},
  granite: graniteFactors,
  qwen3_5_text: {
    ...{attn_output_gate: true, partial_rotary_factor: 0.5, linear_conv_kernel_dim: 4, linear_num_key_heads: 2},
    ...{linear_num_value_heads: 4, linear_key_head_dim: 16, linear_value_head_dim: 16, mlp_only_layers: []},
  },
  granitemoehybrid: {
    ...graniteFactors,
    ...{num_local_experts: 0, num_experts_per_tok: 0, shared_intermediate_size: 80, position_embedding_type: 'nope'},
    ...{mamba_n_heads: 4, mamba_n_groups: 1, mamba_d_state: 16, mamba_d_conv: 4, mamba_expand: 2, mamba_d_head: 24},
    ...{mamba_conv_bias: true, mamba_proj_bias: false, normalization_function: 'rmsnorm'},
  },
}

/** Names of the norms of a layer. */
const layerNorms = ({family}: TinyModel): readonly string[] => {
  if (family === 'olmo2') return ['post_attention_layernorm', 'post_feedforward_layernorm']
  const llama = ['input_layernorm', 'post_attention_layernorm']
  return family.startsWith('gemma') ? [...llama, 'pre_feedforward_layernorm', 'post_feedforward_layernorm'] : llama
}

/** Sizes of the norms of queries and keys. */
function headNorms({family, heads, kvHeads, headDim}: TinyModel): readonly (readonly ['q' | 'k', number])[] {
  const isWhole = family === 'olmo2'
  if (!isWhole && !/^(qwen3|gemma[34]|lfm2)/.test(family)) return []
  return [
    ['q', isWhole ? heads * headDim : headDim],
    ['k', isWhole ? kvHeads * headDim : headDim],
  ]
}

const windowed = /^(mistral|qwen(?!3_5)|gemma|phi)/

/** Names of the layers of hybrid families that have something else than attention, and of those that have it. */
const layerTypes: Readonly<Partial<Record<TinyFamily, readonly [recurrent: string, attention: string]>>> = {
  lfm2: ['conv', 'full_attention'],
  qwen3_5_text: ['linear_attention', 'full_attention'],
  granitemoehybrid: ['mamba', 'attention'],
}

/** The family whose recurrent layers a layer is one of; undefined for attention. */
export const recurrentIn = ({family}: Pick<TinyModel, 'family'>, layer: number): TinyFamily | undefined =>
  family in layerTypes && layer % 3 !== 1 ? family : undefined

/** Other names of parts of tensor names. */
const partNames: Readonly<Partial<Record<TinyFamily, Readonly<Record<string, string>>>>> = {
  lfm2: {
    'model.norm': 'model.embedding_norm',
    input_layernorm: 'operator_norm',
    post_attention_layernorm: 'ffn_norm',
    o_proj: 'out_proj',
    q_norm: 'q_layernorm',
    k_norm: 'k_layernorm',
    'mlp.gate_proj': 'feed_forward.w1',
    'mlp.up_proj': 'feed_forward.w3',
    'mlp.down_proj': 'feed_forward.w2',
  },
  granitemoehybrid: {
    'mlp.gate_up_proj': 'shared_mlp.input_linear',
    'mlp.gate_proj': 'shared_mlp.gate_proj',
    'mlp.up_proj': 'shared_mlp.up_proj',
    'mlp.down_proj': 'shared_mlp.output_linear',
  },
}

/** The name of a tensor of Llama in a family. */
export const nameIn = ({family}: Pick<TinyModel, 'family'>, name: string): string =>
  Object.entries(partNames[family] ?? {}).reduce((changed, pair) => changed.replace(...pair), name)

/** Base of the rotary embedding of layers of Gemma 4 with a window. */
const gemma4Theta = 1000

const gemma4Config = (model: TinyModel) => ({
  global_head_dim: 2 * model.headDim,
  layer_types: Array.from({length: model.layers}, (_, i) =>
    isWideIn(model, i) ? 'full_attention' : 'sliding_attention',
  ),
  rope_parameters: {
    full_attention: {rope_type: 'proportional', partial_rotary_factor: 0.25, rope_theta: model.ropeTheta},
    sliding_attention: {rope_type: 'default', rope_theta: gemma4Theta},
  },
})

/** The `config.json` of a tiny model. */
export const tinyConfig = (model: TinyModel): Record<string, unknown> => ({
  architectures: ['TinyForCausalLM'],
  model_type: model.family,
  vocab_size: model.vocabSize,
  hidden_size: model.hiddenSize,
  intermediate_size: model.intermediateSize,
  num_hidden_layers: model.layers,
  num_attention_heads: model.heads,
  num_key_value_heads: model.kvHeads,
  head_dim: model.headDim,
  max_position_embeddings: model.contextLength,
  rms_norm_eps: 1e-5,
  rope_theta: model.ropeTheta,
  rope_scaling: model.ropeScaling,
  tie_word_embeddings: model.tied,
  ...(isGemma(model) ? {hidden_activation: 'gelu_pytorch_tanh'} : {hidden_act: 'silu'}),
  torch_dtype: 'float32',
  ...(windowed.test(model.family) ? {sliding_window: model.window} : {}),
  ...(/^qwen(?!3_5)/.test(model.family)
    ? {use_sliding_window: model.window !== null, max_window_layers: model.firstWindowed}
    : {}),
  ...familyConfig[model.family],
  ...(model.family === 'gemma4_text' ? gemma4Config(model) : {}),
  ...(layerTypes[model.family] === undefined
    ? {}
    : {
        layer_types: Array.from(
          {length: model.layers},
          (_, i) => layerTypes[model.family]?.[recurrentIn(model, i) === undefined ? 1 : 0],
        ),
      }),
  ...model.config,
})

/** The files of a complete, randomly initialised model with a byte-level tokenizer, small enough for any test. */
export function tinyModelFiles(changes: Partial<TinyModel> = {}): Record<string, string | Uint8Array> {
  const model = {...tinyModel, ...changes}
  return {
    'config.json': JSON.stringify(tinyConfig(model)),
    'tokenizer.json': JSON.stringify(byteTokenizer()),
    'tokenizer_config.json': JSON.stringify({bos_token: '<s>', tokenizer_class: 'LlamaTokenizer'}),
    ...weightFiles(model),
  }
}

export const writeTinyModel = (folder: string, changes: Partial<TinyModel> = {}): Promise<void> =>
  writeFiles(folder, tinyModelFiles(changes))

export interface TinyAdapter {
  rank: number
  alpha: number
  /** The manifest that describes it, which determines the tensor names. */
  form: 'v3' | 'v3-flat' | 'v2' | 'peft' | 'peft-rs'
  /** Whether tensor names of the two older formats end in `.weight`. */
  suffix: boolean
  /** Whether the parts of fused projections are adapted. */
  parts: boolean
  /** Whether the routed experts are adapted. */
  experts: boolean
  /** Whether the head is adapted too. */
  head: boolean
  /** Whether the up projection is zero, as at the start of training. */
  zero: boolean
  seed: number
}

export const tinyAdapter: TinyAdapter = {
  ...{rank: 4, alpha: 8, form: 'v3', suffix: false},
  ...{parts: false, experts: false, head: true, zero: false, seed: 9},
}

/** Logical name, base tensor and shape `[out, in]` of each adapted weight of a tiny model. */
function adapted(
  model: TinyModel,
  {parts, head, experts}: TinyAdapter,
): [logical: string, target: string, shape: readonly number[]][] {
  const shapes = tensorShapes(model, isFusedIn(model) && !parts)
  const layers = Object.keys(shapes).flatMap((target) => {
    const [, layer, short] =
      /^model\.layers\.(\d+)\.(?:.+\.)?(\w+_proj|in_proj_\w+|w\d|\w+_linear|per_layer_(?!.*norm)\w+)\.weight$/.exec(
        target,
      ) ?? []
    const isLeftOut = short === undefined || (!experts && target.includes('.experts.'))
    return isLeftOut ? [] : [[`l${layer}.${short.replace(/_proj$/, '')}` as string, target] as const]
  })
  if ('model.per_layer_model_projection.weight' in shapes)
    layers.push(['per_layer_model_projection', 'model.per_layer_model_projection.weight'])
  const tail = head ? [['lm_head', 'model.embed_tokens.weight'] as const] : []
  return [...layers, ...tail].map(([logical, target]) => [logical, target, shapes[target] as readonly number[]])
}

/** The files of a random adapter for a tiny model. */
export function tinyAdapterFiles(
  modelChanges: Partial<TinyModel> = {},
  changes: Partial<TinyAdapter> = {},
): Record<string, string | Uint8Array> {
  const model = {...tinyModel, ...modelChanges}
  const adapter = {...tinyAdapter, ...changes}
  const {rank, alpha, form, suffix, zero} = adapter
  const peft = form.startsWith('peft')
  const random = gaussian(adapter.seed)
  const targets = adapted(model, adapter)
  const tensors = targets.flatMap(([logical, target, [out = 0, input = 0]]) => {
    const module = target === 'model.embed_tokens.weight' ? 'lm_head' : target.replace(/\.weight$/, '')
    const name = (half: 'a' | 'b') =>
      peft
        ? `base_model.model.${module}.lora_${half.toUpperCase()}.weight`
        : `${logical}.lora_${half}${suffix ? '.weight' : ''}`
    const values = (length: number, scale: number) =>
      floatBytes(
        new Float32Array(length).map(() => scale * random()),
        'F32',
      )
    return [
      [name('a'), {dtype: 'F32', shape: [rank, input], data: values(rank * input, 1 / Math.sqrt(input))}],
      [name('b'), {dtype: 'F32', shape: [out, rank], data: values(out * rank, zero ? 0 : 0.1)}],
    ] as const
  })
  const weights = safetensorsFile(Object.fromEntries(tensors))
  if (peft) {
    const config = {
      peft_type: 'LORA',
      r: rank,
      lora_alpha: alpha,
      use_rslora: form === 'peft-rs',
      bias: 'none',
      fan_in_fan_out: false,
    }
    return {'adapter_model.safetensors': weights, 'adapter_config.json': JSON.stringify(config)}
  }
  const quant = {base_quant: 'nf4', double_quant: true}
  const common = {
    base_key_map: Object.fromEntries(targets.map(([logical, target]) => [logical, target])),
    layer_order: targets.map(([logical]) => logical),
    vocab: model.vocabSize,
    d_model: model.hiddenSize,
    rank,
    alpha,
  }
  const manifests = {
    v3: ['adapter_manifest.json', {format: 'svc_mens_adapter', version: 3, adapter_method: 'qlora', quant, ...common}],
    'v3-flat': [
      'adapter_manifest.json',
      {format: 'svc_mens_adapter', version: 3, adapter_method: 'qlora', ...quant, ...common},
    ],
    v2: [
      'meta.json',
      {format: 'svc_mens_qlora_lora_only_v2', version: 2, embed_key: 'model.embed_tokens.weight', ...common},
    ],
  } as const
  const [file, manifest] = manifests[form as keyof typeof manifests]
  return {'candle_qlora_adapter.safetensors': weights, [file]: JSON.stringify(manifest)}
}

function weightFiles(model: TinyModel): Record<string, string | Uint8Array> {
  const random = gaussian(model.seed)
  const tensors = Object.entries(tensorShapes(model)).map(([name, shape]) => {
    const size = shape.reduce((product, dim) => product * dim, 1)
    const norm = name.endsWith('norm.weight')
    // Large enough for distinct attention weights, so that a wrong position changes the result.
    const scale = norm ? 0.1 : shape.length === 1 ? 0.3 : 2 / Math.sqrt(size / (shape[0] as number))
    const isFactor = norm || name.endsWith('layer_scalar')
    const mean = isFactor && (!addsToNorms(model) || name.includes('linear_attn')) ? 1 : 0
    const values = new Float32Array(size).map(() => mean + scale * random())
    return [name, {dtype: model.dtype, shape, data: floatBytes(values, model.dtype)}] as const
  })
  if (model.layout === 'single') return {'model.safetensors': safetensorsFile(Object.fromEntries(tensors))}
  const half = tensors.length >> 1
  const shards = {
    'model-00001-of-00002.safetensors': tensors.slice(0, half),
    'model-00002-of-00002.safetensors': tensors.slice(half),
  }
  const files = Object.fromEntries(
    Object.entries(shards).map(([file, part]) => [file, safetensorsFile(Object.fromEntries(part))]),
  )
  if (model.layout === 'numbered') return files
  const map = Object.entries(shards).flatMap(([file, part]) => part.map(([name]) => [name, file] as const))
  return {...files, 'model.safetensors.index.json': JSON.stringify({weight_map: Object.fromEntries(map)})}
}

/** Shapes of the tensors of a recurrent layer, by their names in it. */
function recurrentShapes(model: TinyModel, layer: number): Record<string, readonly number[]> | undefined {
  const {hiddenSize} = model
  const size = (key: string) => Number(tinyConfig(model)[key])
  switch (recurrentIn(model, layer)) {
    case 'lfm2': {
      const biases = {
        'conv.in_proj.bias': [3 * hiddenSize],
        'conv.conv.bias': [hiddenSize],
        'conv.out_proj.bias': [hiddenSize],
      }
      return {
        'conv.in_proj.weight': [3 * hiddenSize, hiddenSize],
        'conv.conv.weight': [hiddenSize, 1, size('conv_L_cache')],
        'conv.out_proj.weight': [hiddenSize, hiddenSize],
        ...(tinyConfig(model).conv_bias === true ? biases : {}),
      }
    }
    case 'qwen3_5_text': {
      const [heads, headDim] = [size('linear_num_value_heads'), size('linear_value_head_dim')]
      const channels = 2 * size('linear_num_key_heads') * size('linear_key_head_dim') + heads * headDim
      return {
        'linear_attn.in_proj_qkv.weight': [channels, hiddenSize],
        'linear_attn.in_proj_z.weight': [heads * headDim, hiddenSize],
        'linear_attn.in_proj_a.weight': [heads, hiddenSize],
        'linear_attn.in_proj_b.weight': [heads, hiddenSize],
        'linear_attn.conv1d.weight': [channels, 1, size('linear_conv_kernel_dim')],
        'linear_attn.A_log': [heads],
        'linear_attn.dt_bias': [heads],
        'linear_attn.norm.weight': [headDim],
        'linear_attn.out_proj.weight': [hiddenSize, heads * headDim],
      }
    }
    case 'granitemoehybrid': {
      const [heads, inner] = [size('mamba_n_heads'), 2 * hiddenSize]
      const channels = inner + 2 * size('mamba_n_groups') * size('mamba_d_state')
      return {
        'mamba.in_proj.weight': [inner + channels + heads, hiddenSize],
        'mamba.conv1d.weight': [channels, 1, size('mamba_d_conv')],
        'mamba.conv1d.bias': [channels],
        'mamba.A_log': [heads],
        'mamba.D': [heads],
        'mamba.dt_bias': [heads],
        'mamba.norm.weight': [inner],
        'mamba.out_proj.weight': [hiddenSize, inner],
      }
    }
    default:
      return undefined
  }
}

/** Whether projections are fused: of Phi all, of Granite 4 those of the feed-forwards. */
const isFusedIn = ({family}: TinyModel) => family === 'phi3' || family === 'granitemoehybrid'

/** The tensors of the inputs of layers of Gemma 4. */
function inputShapes({vocabSize, hiddenSize, layers}: TinyModel): Record<string, readonly number[]> {
  const ofLayer = (i: number): [string, readonly number[]][] => [
    [`model.layers.${i}.per_layer_input_gate.weight`, [layerInputSize, hiddenSize]],
    [`model.layers.${i}.per_layer_projection.weight`, [hiddenSize, layerInputSize]],
    [`model.layers.${i}.post_per_layer_input_norm.weight`, [hiddenSize]],
    [`model.layers.${i}.layer_scalar`, [1]],
  ]
  return Object.fromEntries([
    ['model.embed_tokens_per_layer.weight', [vocabSize, layers * layerInputSize]],
    ['model.per_layer_model_projection.weight', [layers * layerInputSize, hiddenSize]],
    ['model.per_layer_projection_norm.weight', [layerInputSize]],
    ...Array.from({length: layers}, (_, i) => ofLayer(i)).flat(),
  ])
}

/** @param isFused whether the projections that a family fuses are fused */
function tensorShapes(model: TinyModel, isFused = isFusedIn(model)): Record<string, readonly number[]> {
  const {vocabSize, hiddenSize, intermediateSize, heads, kvHeads, headDim} = model
  const shapes: Record<string, readonly number[]> = {'model.embed_tokens.weight': [vocabSize, hiddenSize]}
  for (let i = 0; i < model.layers; i++) {
    const layer = `model.layers.${i}`
    const recurrent = recurrentShapes(model, i)
    for (const name of biasesOf(model))
      shapes[`${layer}.self_attn.${name}_proj.bias`] = [(name === 'q' ? heads : kvHeads) * headDim]
    const hasKeys = sourceIn(model, i) === undefined
    const width = (isWideIn(model, i) ? 2 : 1) * headDim
    for (const [name, size] of recurrent !== undefined ? [] : headNorms(model))
      if (name === 'q' || hasKeys) shapes[`${layer}.self_attn.${name}_norm.weight`] = [(size / headDim) * width]
    const [first, ...others] = layerNorms(model)
    shapes[`${layer}.${first}.weight`] = [hiddenSize]
    if (recurrent !== undefined)
      for (const [name, shape] of Object.entries(recurrent)) shapes[`${layer}.${name}`] = shape
    else if (isFused && model.family === 'phi3')
      shapes[`${layer}.self_attn.qkv_proj.weight`] = [(heads + 2 * kvHeads) * headDim, hiddenSize]
    else {
      shapes[`${layer}.self_attn.q_proj.weight`] = [
        (model.family === 'qwen3_5_text' ? 2 : 1) * heads * width,
        hiddenSize,
      ]
      for (const name of hasKeys ? ['k', 'v'] : [])
        shapes[`${layer}.self_attn.${name}_proj.weight`] = [kvHeads * width, hiddenSize]
    }
    if (recurrent === undefined) shapes[`${layer}.self_attn.o_proj.weight`] = [hiddenSize, heads * width]
    for (const name of others) shapes[`${layer}.${name}.weight`] = [hiddenSize]
    const feedForward = (prefix: string, size: number) => {
      if (isFused) shapes[`${prefix}.gate_up_proj.weight`] = [2 * size, hiddenSize]
      else for (const name of ['gate', 'up']) shapes[`${prefix}.${name}_proj.weight`] = [size, hiddenSize]
      shapes[`${prefix}.down_proj.weight`] = [hiddenSize, size]
    }
    const {
      num_experts: experts = 0,
      moe_intermediate_size: size = 0,
      mlp_only_layers: plain = [],
    } = tinyConfig(model) as {num_experts?: number; moe_intermediate_size?: number; mlp_only_layers?: readonly number[]}
    if (experts === 0 || plain.includes(i)) feedForward(`${layer}.mlp`, (hasKeys ? 1 : 2) * intermediateSize)
    else {
      shapes[`${layer}.mlp.gate.weight`] = [experts, hiddenSize]
      for (let expert = 0; expert < experts; expert++) feedForward(`${layer}.mlp.experts.${expert}`, size)
    }
  }
  if (model.family === 'gemma4_text') Object.assign(shapes, inputShapes(model))
  shapes['model.norm.weight'] = [hiddenSize]
  if (!model.tied) shapes['lm_head.weight'] = [vocabSize, hiddenSize]
  return Object.fromEntries(Object.entries(shapes).map(([name, shape]) => [nameIn(model, name), shape]))
}

/**
 * A tokenizer with one token per byte and a beginning-of-text token, id 256. Further ids up to the vocabulary size are
 * words that no text is encoded to.
 */
export function byteTokenizer(vocabSize = 257): object {
  const words = Array.from({length: vocabSize - 257}, (_, i) => [`w${i}`, 257 + i])
  const vocab = Object.fromEntries([...byteAlphabet().map((letter, byte) => [letter, byte]), ['<s>', 256], ...words])
  const byteLevel = {type: 'ByteLevel', add_prefix_space: false, trim_offsets: false, use_regex: false}
  return {
    version: '1.0',
    added_tokens: [
      {id: 256, content: '<s>', single_word: false, lstrip: false, rstrip: false, normalized: false, special: true},
    ],
    normalizer: null,
    pre_tokenizer: byteLevel,
    post_processor: {
      type: 'TemplateProcessing',
      single: [{SpecialToken: {id: '<s>', type_id: 0}}, {Sequence: {id: 'A', type_id: 0}}],
      pair: [{Sequence: {id: 'A', type_id: 0}}, {Sequence: {id: 'B', type_id: 1}}],
      special_tokens: {'<s>': {id: '<s>', ids: [256], tokens: ['<s>']}},
    },
    decoder: byteLevel,
    model: {type: 'BPE', vocab, merges: []},
  }
}

/** The characters of GPT-2 for the bytes 0 to 255: printable bytes map to themselves, others to U+0100 and up. */
function byteAlphabet(): string[] {
  const printable = (byte: number) =>
    (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || (byte >= 174 && byte <= 255)
  let next = 256
  return Array.from({length: 256}, (_, byte) => String.fromCodePoint(printable(byte) ? byte : next++))
}

/** Seeded normal numbers: a linear congruential generator and the Box-Muller transform. */
function gaussian(seed: number): () => number {
  const uniform = congruential(seed)
  return () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform())
}

/**
 * Numbers from 0 to 1: the upper 53 bits of state * 0x5851f42d4c957f2d + 0x14057b7ef767814f modulo 2^64. Uses two
 * 32-bit halves, because a BigInt for each number takes ten times as long.
 */
function congruential(seed: number): () => number {
  let high = Math.floor(seed / 2 ** 32)
  let low = seed >>> 0
  return () => {
    const [upper, lower] = [low >>> 16, low & 0xffff]
    const middle = lower * 0x4c95 + upper * 0x7f2d
    const bottom = lower * 0x7f2d + (middle % 2 ** 16) * 2 ** 16
    const sum = (bottom >>> 0) + 0xf767814f
    const carries = Math.floor(bottom / 2 ** 32) + Math.floor(sum / 2 ** 32)
    const top = upper * 0x4c95 + Math.floor(middle / 2 ** 16)
    high = (Math.imul(high, 0x4c957f2d) + Math.imul(low, 0x5851f42d) + top + carries + 0x14057b7e) >>> 0
    low = sum >>> 0
    return (high * 2 ** 21 + (low >>> 11) + 1) / 2 ** 53
  }
}
