import {readFile, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {randomSource} from '../../src/sampling/index.js'
import {
  floatToHalf,
  openRunDirectory,
  readJsonObject,
  readTensorFloat32,
  type TensorEntry,
  type TensorMap,
  withParts,
} from '../../src/weights/index.js'
import {type GgufEntry, type GgufFileTensor, ggufFile} from './gguf-file.js'

/** Names of the parts of tensor names. */
const parts: Readonly<Record<string, string>> = {
  'model.layers': 'blk',
  'self_attn.q_proj': 'attn_q',
  'self_attn.k_proj': 'attn_k',
  'self_attn.v_proj': 'attn_v',
  'self_attn.o_proj': 'attn_output',
  'self_attn.q_norm': 'attn_q_norm',
  'self_attn.k_norm': 'attn_k_norm',
  input_layernorm: 'attn_norm',
  post_attention_layernorm: 'ffn_norm',
  'mlp.gate_proj': 'ffn_gate',
  'mlp.up_proj': 'ffn_up',
  'mlp.down_proj': 'ffn_down',
  'model.embed_tokens': 'token_embd',
  'model.norm': 'output_norm',
  lm_head: 'output',
}

/** Norms of families with norms after attention and feed-forward. */
const postNorms = {
  post_attention_layernorm: 'post_attention_norm',
  pre_feedforward_layernorm: 'ffn_norm',
  post_feedforward_layernorm: 'post_ffw_norm',
}

/** How llama.cpp writes a family. */
interface Written {
  /** Its name there, if another one. */
  name?: string
  parts?: Readonly<Record<string, string>>
  /** Whether the rows of queries and keys alternate between the halves of their heads. */
  alternates?: boolean
  /** Added to the weights of norms. */
  normOffset?: number
  /** Its own metadata, and the keys of the configuration: integers and flags, and floats. */
  keys?: Readonly<Record<string, string>>
  floats?: Readonly<Record<string, string>>
  /** Metadata that follows from several keys. */
  computed?(config: Readonly<Record<string, unknown>>): Record<string, GgufEntry>
}

const graniteFloats = {
  embedding_scale: 'embedding_multiplier',
  residual_scale: 'residual_multiplier',
  logit_scale: 'logits_scaling',
  'attention.scale': 'attention_multiplier',
}

function gemma4Metadata({
  layer_types: types,
  intermediate_size: size,
  num_kv_shared_layers: shared,
  rope_parameters: ropes,
}: Readonly<Record<string, unknown>>): Record<string, GgufEntry> {
  const layers = types as readonly string[]
  const {sliding_attention: windowed} = ropes as Readonly<Record<string, {rope_theta: number}>>
  const isShared = (layer: number) => layer >= layers.length - Number(shared)
  return {
    'attention.sliding_window_pattern': {flags: layers.map((type) => type === 'sliding_attention')},
    feed_forward_length: {integers: layers.map((_, i) => Number(size) * (isShared(i) ? 2 : 1))},
    'rope.freq_base_swa': {f32: windowed?.rope_theta ?? 0},
  }
}

const gemma: Written = {parts: postNorms, normOffset: 1}

const families: Readonly<Record<string, Written>> = {
  llama: {alternates: true},
  gemma2: {
    ...gemma,
    keys: {'attention.sliding_window': 'sliding_window'},
    floats: {
      attn_logit_softcapping: 'attn_logit_softcapping',
      final_logit_softcapping: 'final_logit_softcapping',
    },
  },
  gemma3_text: {
    ...gemma,
    name: 'gemma3',
    keys: {'attention.sliding_window': 'sliding_window', 'attention.sliding_window_pattern': 'sliding_window_pattern'},
  },
  gemma4_text: {
    name: 'gemma4',
    parts: {
      ...postNorms,
      'model.embed_tokens_per_layer': 'per_layer_token_embd',
      'model.per_layer_model_projection': 'per_layer_model_proj',
      'model.per_layer_projection_norm': 'per_layer_proj_norm',
      per_layer_input_gate: 'inp_gate',
      per_layer_projection: 'proj',
      post_per_layer_input_norm: 'post_norm',
      layer_scalar: 'layer_output_scale.weight',
    },
    keys: {
      'attention.sliding_window': 'sliding_window',
      'attention.shared_kv_layers': 'num_kv_shared_layers',
      embedding_length_per_layer_input: 'hidden_size_per_layer_input',
      ...Object.fromEntries(
        ['attention.key_length', 'attention.value_length', 'rope.dimension_count'].flatMap((key) => [
          [key, 'global_head_dim'],
          [`${key}_swa`, 'head_dim'],
        ]),
      ),
    },
    floats: {final_logit_softcapping: 'final_logit_softcapping'},
    computed: gemma4Metadata,
  },
  qwen3_moe: {
    name: 'qwen3moe',
    parts: {'mlp.gate.': 'ffn_gate_inp.'},
    keys: {
      expert_count: 'num_experts',
      expert_used_count: 'num_experts_per_tok',
      expert_feed_forward_length: 'moe_intermediate_size',
    },
  },
  smollm3: {alternates: true},
  olmo2: {parts: postNorms},
  granite: {
    alternates: true,
    floats: graniteFloats,
  },
  phi3: {
    parts: {'self_attn.qkv_proj': 'attn_qkv', 'mlp.gate_up_proj': 'ffn_up'},
    keys: {
      'attention.sliding_window': 'sliding_window',
      'rope.scaling.original_context_length': 'original_max_position_embeddings',
    },
  },
  ministral3: {name: 'mistral3', alternates: true},
  qwen3_5_text: {
    name: 'qwen35',
    normOffset: 1,
    parts: {
      post_attention_layernorm: 'post_attention_norm',
      'linear_attn.in_proj_qkv': 'attn_qkv',
      'linear_attn.in_proj_z': 'attn_gate',
      'linear_attn.in_proj_a': 'ssm_alpha',
      'linear_attn.in_proj_b': 'ssm_beta',
      'linear_attn.conv1d': 'ssm_conv1d',
      'linear_attn.dt_bias': 'ssm_dt.bias',
      'linear_attn.A_log': 'ssm_a',
      'linear_attn.norm': 'ssm_norm',
      'linear_attn.out_proj': 'ssm_out',
    },
    keys: {
      'ssm.conv_kernel': 'linear_conv_kernel_dim',
      'ssm.state_size': 'linear_key_head_dim',
      'ssm.group_count': 'linear_num_key_heads',
      'ssm.time_step_rank': 'linear_num_value_heads',
    },
    computed: ({linear_num_value_heads: heads, linear_value_head_dim: size, layer_types: types}) => ({
      'ssm.inner_size': {u32: Number(heads) * Number(size)},
      full_attention_interval: {u32: (types as readonly string[]).indexOf('full_attention') + 1},
      'rope.dimension_sections': {integers: [2, 1, 1, 0]},
    }),
  },
  granitemoehybrid: {
    name: 'granitehybrid',
    alternates: true,
    parts: {
      'mamba.in_proj': 'ssm_in',
      'mamba.conv1d': 'ssm_conv1d',
      'mamba.dt_bias': 'ssm_dt.bias',
      'mamba.A_log': 'ssm_a',
      'mamba.D': 'ssm_d',
      'mamba.norm': 'ssm_norm',
      'mamba.out_proj': 'ssm_out',
      'shared_mlp.gate_proj': 'ffn_gate',
      'shared_mlp.up_proj': 'ffn_up',
      'shared_mlp.output_linear': 'ffn_down',
    },
    keys: {
      feed_forward_length: 'shared_intermediate_size',
      'ssm.conv_kernel': 'mamba_d_conv',
      'ssm.state_size': 'mamba_d_state',
      'ssm.group_count': 'mamba_n_groups',
      'ssm.time_step_rank': 'mamba_n_heads',
    },
    floats: graniteFloats,
    computed: ({hidden_size: hidden, mamba_expand: expand}) => ({
      'ssm.inner_size': {u32: Number(hidden) * Number(expand)},
      'rope.scaling.finetuned': {flag: false},
    }),
  },
  lfm2: {
    parts: {
      'model.embedding_norm': 'token_embd_norm',
      operator_norm: 'attn_norm',
      'self_attn.out_proj': 'attn_output',
      'self_attn.q_layernorm': 'attn_q_norm',
      'self_attn.k_layernorm': 'attn_k_norm',
      'feed_forward.w1': 'ffn_gate',
      'feed_forward.w3': 'ffn_up',
      'feed_forward.w2': 'ffn_down',
      'conv.': 'shortconv.',
    },
    keys: {'shortconv.l_cache': 'conv_L_cache'},
    floats: {'attention.layer_norm_rms_epsilon': 'norm_eps'},
  },
}

const writtenAs = (family: unknown): Written => families[String(family)] ?? {}

/** The name in llama.cpp of a tensor of transformers. */
export const ggufName = (name: string, family: unknown): string =>
  // Its own parts are replaced first, because they may contain those of all families.
  Object.entries({...writtenAs(family).parts, ...parts, ...writtenAs(family).parts}).reduce(
    (changed, [part, other]) => changed.replace(part, other),
    name.replace(/mlp\.experts\.\d+\.(\w+)_proj/, 'ffn_$1_exps'),
  )

/** A type of tensors and how floats are written in it. */
interface GgufType {
  number: number
  /** Weights of a block. */
  weights: number
  write(values: Float32Array): Uint8Array
}

const floats = (number: number, write: GgufType['write']): GgufType => ({number, weights: 1, write})

/** Blocks of random bits, except for their factors, which are about the given size. */
const randomBlocks = (
  number: number,
  weights: number,
  bytes: number,
  size: number,
  ...factors: readonly (readonly [at: number, factor: number])[]
): GgufType => ({
  number,
  weights,
  write(values) {
    const random = randomSource(values.length + number)
    const blocks = Buffer.from(Uint8Array.from({length: (values.length / weights) * bytes}, () => 256 * random()))
    const scale = rms(values) / size
    for (let block = 0; block < blocks.length; block += bytes)
      for (const [at, factor] of factors)
        blocks.writeUInt16LE(floatToHalf(factor * scale * (0.75 + 0.5 * random())), block + at)
    return blocks
  },
})

const rms = (values: Float32Array) => Math.sqrt(values.reduce((sum, value) => sum + value * value, 0) / values.length)

/** Blocks of 32 values that are rounded to integers. */
const rounded = (number: number, bytes: number, write: (values: Float32Array, block: DataView) => void): GgufType => ({
  number,
  weights: 32,
  write(values) {
    const blocks = new Uint8Array((values.length / 32) * bytes)
    for (let i = 0; i < values.length / 32; i++)
      write(values.subarray(32 * i, 32 * (i + 1)), new DataView(blocks.buffer, i * bytes, bytes))
    return blocks
  },
})

const extreme = (values: Float32Array) => values.reduce((most, each) => (Math.abs(each) > Math.abs(most) ? each : most))

/** The types. The random ones are those that only llama.cpp itself writes; their sizes are those of their integers. */
export const ggufTypes = {
  F32: floats(0, (values) => new Uint8Array(values.slice().buffer)),
  F16: floats(1, (values) => new Uint8Array(Uint16Array.from(values, floatToHalf).buffer)),
  BF16: floats(30, (values) => {
    const bits = new Uint32Array(values.slice().buffer)
    return new Uint8Array(Uint16Array.from(bits, (each) => (each + 0x7fff + ((each >>> 16) & 1)) >>> 16).buffer)
  }),
  Q8_0: rounded(8, 34, (values, block) => {
    const scale = Math.abs(extreme(values)) / 127
    block.setUint16(0, floatToHalf(scale), true)
    for (const [i, value] of values.entries()) block.setInt8(2 + i, scale === 0 ? 0 : Math.round(value / scale))
  }),
  Q4_0: rounded(2, 18, (values, block) => {
    const scale = extreme(values) / -8
    block.setUint16(0, floatToHalf(scale), true)
    const integer = (i: number) => (scale === 0 ? 8 : Math.min(15, Math.round(values[i]! / scale) + 8))
    for (let i = 0; i < 16; i++) block.setUint8(2 + i, integer(i) | (integer(16 + i) << 4))
  }),
  Q4_1: rounded(3, 20, (values, block) => {
    const [least, most] = [Math.min(...values), Math.max(...values)]
    const scale = (most - least) / 15
    block.setUint16(0, floatToHalf(scale), true)
    block.setUint16(2, floatToHalf(least), true)
    const integer = (i: number) => (scale === 0 ? 0 : Math.round((values[i]! - least) / scale))
    for (let i = 0; i < 16; i++) block.setUint8(4 + i, integer(i) | (integer(16 + i) << 4))
  }),
  Q5_0: randomBlocks(6, 32, 22, 9, [0, 1]),
  Q5_1: randomBlocks(7, 32, 24, 9, [0, 1], [2, -15.5]),
  Q2_K: randomBlocks(10, 256, 84, 12, [80, 1], [82, 1.5]),
  Q3_K: randomBlocks(11, 256, 110, 42, [108, 1]),
  Q4_K: randomBlocks(12, 256, 144, 240, [0, 1], [2, 7.5]),
  Q5_K: randomBlocks(13, 256, 176, 480, [0, 1], [2, 15.5]),
  Q6_K: randomBlocks(14, 256, 210, 1360, [208, 1]),
  IQ4_NL: randomBlocks(20, 32, 18, 70, [0, 1]),
  IQ4_XS: randomBlocks(23, 256, 136, 1300, [0, 1]),
  MXFP4: {
    number: 39,
    weights: 32,
    write(values) {
      const exponent = Math.round(Math.log2(rms(values) / 6)) + 128
      return randomBlocks(39, 32, 17, 6)
        .write(values)
        .map((byte, i) => (i % 17 === 0 ? exponent : byte))
    },
  },
} as const satisfies Readonly<Record<string, GgufType>>

export type GgufTypeName = keyof typeof ggufTypes

export interface GgufModelOptions {
  /** Type of the matrices whose rows are complete blocks; the others are F16. */
  type: GgufTypeName
  /** Type of the embedding and the head; default: as the other matrices. */
  outer?: GgufTypeName
  /** Metadata that is added or replaced. */
  metadata?: Readonly<Record<string, GgufEntry>>
  /** Selects the tensors that are written, by their names in llama.cpp. */
  keep?: (name: string) => boolean
}

/** The GGUF file of a model directory with safetensors weights, as llama.cpp converts it. */
export async function ggufOf(
  folder: string,
  {type, outer = type, metadata = {}, keep = () => true}: GgufModelOptions,
): Promise<Buffer> {
  const {tensors: stored, config: file} = await openRunDirectory(folder)
  const config = await readJsonObject(file)
  const tensors = withoutFused(stored)
  const written: WrittenTensor[] = []
  const headDim = Number(config.head_dim ?? Number(config.hidden_size) / Number(config.num_attention_heads))
  for (const [name, entry] of tensors) {
    const {shape} = entry
    const values = inTiles(await readTensorFloat32(entry), entry, config)
    const {alternates = false, normOffset = 0} = writtenAs(config.model_type)
    if (alternates && /self_attn\.[qk]_proj/.test(name)) alternate(values, headDim, shape[1] ?? 1)
    if (/(?<!linear_attn\.)norm\.weight$/.test(name))
      for (const [i, value] of values.entries()) values[i] = value + normOffset
    if (name.endsWith('A_log')) for (const [i, value] of values.entries()) values[i] = -Math.exp(value)
    const wanted: GgufType = ggufTypes[/embed_tokens|lm_head/.test(name) ? outer : type]
    const isWhole = (shape[1] ?? 0) % wanted.weights === 0
    const {number, write} =
      shape.length !== 2 || /mlp\.gate\.weight$/.test(name) ? ggufTypes.F32 : isWhole ? wanted : ggufTypes.F16
    const dims = dimsOf(name, shape)
    written.push({name: ggufName(name, config.model_type), type: number, shape: dims, data: write(values)})
  }
  for (const [kind, divisors] of Object.entries(divisorsOf(config)))
    written.push({
      name: `${kind}.weight`,
      type: ggufTypes.F32.number,
      shape: [divisors.length],
      data: ggufTypes.F32.write(Float32Array.from(divisors)),
    })
  return ggufFile(
    {...(await metadataOf(folder, config, headDim)), ...metadata},
    stacked(written).filter(({name}) => keep(name)),
  )
}

/** The gate and up projections of Granite 4, which are one matrix only in transformers, and all other tensors. */
function withoutFused(tensors: TensorMap): TensorMap {
  const fused = [...tensors].flatMap(([name, {shape}]) => {
    if (!name.endsWith('shared_mlp.input_linear.weight')) return []
    const part = (half: string) => ({name: name.replace('input_linear', half), rows: (shape[0] ?? 0) / 2})
    return [{name, parts: [part('gate_proj'), part('up_proj')]}]
  })
  return new Map([...withParts(tensors, fused)].filter(([name]) => !fused.some((matrix) => matrix.name === name)))
}

/** The shape that llama.cpp writes: kernels have no dimension of size 1, and vectors of Mamba 2 have one. */
function dimsOf(name: string, shape: readonly number[]): readonly number[] {
  if (/mamba\.(A_log|D)$/.test(name)) return [...shape, 1]
  if (name.endsWith('mamba.norm.weight')) return [1, ...shape]
  return shape.length === 3 ? shape.filter((_, i) => i !== 1) : shape
}

type WrittenTensor = Omit<GgufFileTensor, 'bytes'> & {data: Uint8Array}

/** Tensors with the same name, which are those of experts, as one. */
function stacked(tensors: readonly WrittenTensor[]): WrittenTensor[] {
  return [...new Set(tensors.map(({name}) => name))].map((name) => {
    const [first, ...others] = tensors.filter((tensor) => tensor.name === name) as [WrittenTensor, ...WrittenTensor[]]
    if (others.length === 0) return first
    const all = [first, ...others]
    return {...first, shape: [all.length, ...first.shape], data: Buffer.concat(all.map(({data}) => data))}
  })
}

export async function writeGguf(path: string, folder: string, options: GgufModelOptions): Promise<void> {
  await writeFile(path, await ggufOf(folder, options))
}

/** Lets the rows of each head alternate between its halves. */
function alternate(values: Float32Array, headDim: number, columns: number): void {
  const size = headDim * columns
  for (let from = 0; from < values.length; from += size) {
    const head = values.slice(from, from + size)
    for (let row = 0; row < headDim; row++) {
      const source = (row >> 1) + (row & 1) * (headDim / 2)
      values.set(head.subarray(source * columns, (source + 1) * columns), from + row * columns)
    }
  }
}

/**
 * Orders the heads of values of Gated DeltaNet as llama.cpp, which repeats all keys: the first head of each key, then the second
 * one. The others have all heads of a key together.
 */
function inTiles(
  values: Float32Array,
  {name, shape}: TensorEntry,
  config: Readonly<Record<string, unknown>>,
): Float32Array {
  const [, part = ''] = /linear_attn\.(in_proj_\w+|conv1d|A_log|dt_bias|out_proj)/.exec(name) ?? []
  if (part === '') return values
  const size = (key: string) => Number(config[`linear_${key}`])
  const [keys, heads, headDim] = [size('num_key_heads'), size('num_value_heads'), size('value_head_dim')]
  const columns = shape.slice(1).reduce((product, dim) => product * dim, 1)
  const isOut = part === 'out_proj'
  const unit = /in_proj_[ab]|A_log|dt_bias/.test(part) ? 1 : headDim
  const skip = part === 'in_proj_qkv' || part === 'conv1d' ? 2 * keys * size('key_head_dim') : 0
  const ordered = values.slice()
  for (let head = 0; head < heads; head++) {
    // Head `head` of the file belongs to the key `head % keys`.
    const source = (head % keys) * (heads / keys) + Math.floor(head / keys)
    for (let i = 0; i < unit; i++)
      if (isOut)
        for (let row = 0; row < values.length; row += columns)
          ordered[row + head * unit + i] = values[row + source * unit + i] as number
      else {
        const from = (skip + source * unit + i) * columns
        ordered.set(values.subarray(from, from + columns), (skip + head * unit + i) * columns)
      }
  }
  return ordered
}

interface TokenizerJson {
  model: {vocab: Record<string, number>; merges: (string | [string, string])[]; byte_fallback?: boolean}
  added_tokens: {id: number; content: string; special: boolean}[]
}

async function metadataOf(
  folder: string,
  config: Readonly<Record<string, unknown>>,
  headDim: number,
): Promise<Record<string, GgufEntry>> {
  const tokenizer: TokenizerJson = JSON.parse(await readFile(join(folder, 'tokenizer.json'), 'utf8'))
  const {
    name: architecture = String(config.model_type),
    keys = {},
    floats = {},
    computed,
  } = writtenAs(config.model_type)
  const key = (name: string) => `${architecture}.${name}`
  const number = (name: string) => ({u32: Number(config[name])})
  const isPieces = tokenizer.model.byte_fallback === true
  const names: string[] = []
  for (const [name, id] of Object.entries(tokenizer.model.vocab)) names[id] = name
  for (const {id, content} of tokenizer.added_tokens) names[id] = content
  for (let id = 0; id < Number(config.vocab_size); id++) names[id] ??= `[PAD${id}]`
  const special = new Set(tokenizer.added_tokens.map(({id}) => id))
  const typeOf = (name: string, id: number) =>
    special.has(id) ? (isPieces && name === '<unk>' ? 2 : 3) : /^\[PAD/.test(name) ? 5 : /^<0x..>$/.test(name) ? 6 : 1
  const settings = await readFile(join(folder, 'tokenizer_config.json'), 'utf8').then(JSON.parse, () => ({}))
  const ids = Object.entries({bos: 'bos_token', eos: 'eos_token', unknown: 'unk_token'}).flatMap(([name, setting]) => {
    const id = names.indexOf(settings[setting])
    return id === -1 ? [] : [[`tokenizer.ggml.${name}_token_id`, {u32: id}] as const]
  })
  return {
    'general.architecture': {text: architecture},
    'general.name': {text: 'test'},
    [key('context_length')]: number('max_position_embeddings'),
    [key('embedding_length')]: number('hidden_size'),
    [key('block_count')]: number('num_hidden_layers'),
    [key('feed_forward_length')]: number('intermediate_size'),
    [key('attention.head_count')]: number('num_attention_heads'),
    [key('attention.head_count_kv')]: kvHeadsOf(config),
    [key('attention.key_length')]: {u32: headDim},
    [key('attention.value_length')]: {u32: headDim},
    [key('attention.layer_norm_rms_epsilon')]: {f32: Number(config.rms_norm_eps)},
    [key('rope.dimension_count')]: {u32: headDim * Number(config.partial_rotary_factor ?? 1)},
    [key('rope.freq_base')]: {f32: Number(config.rope_theta)},
    ...Object.fromEntries(Object.entries(scalingOf(config.rope_scaling)).map(([name, value]) => [key(name), value])),
    ...Object.fromEntries(
      Object.entries(keys).flatMap(([name, from]) =>
        config[from] == null ? [] : [[key(name), entryOf(config[from])]],
      ),
    ),
    ...Object.fromEntries(Object.entries(floats).map(([name, from]) => [key(name), {f32: Number(config[from])}])),
    ...Object.fromEntries(Object.entries(computed?.(config) ?? {}).map(([name, value]) => [key(name), value])),
    'tokenizer.ggml.model': {text: isPieces ? 'llama' : 'gpt2'},
    ...(isPieces ? {} : {'tokenizer.ggml.pre': {text: 'qwen2'}}),
    'tokenizer.ggml.tokens': {texts: names},
    'tokenizer.ggml.token_type': {integers: names.map(typeOf)},
    ...(isPieces
      ? {'tokenizer.ggml.scores': {floats: scoresOf(names, tokenizer.model.merges)}}
      : {
          'tokenizer.ggml.merges': {
            texts: tokenizer.model.merges.map((pair) => (typeof pair === 'string' ? pair : pair.join(' '))),
          },
        }),
    ...Object.fromEntries(ids),
  }
}

/** The number of heads of keys, or a list of those of all layers if some have no attention. */
function kvHeadsOf({layer_types: types, num_key_value_heads: heads}: Readonly<Record<string, unknown>>): GgufEntry {
  const kinds = Array.isArray(types) ? types : []
  const isRecurrent = (kind: string) => kind === 'conv' || kind === 'mamba'
  if (!kinds.some(isRecurrent)) return {u32: Number(heads)}
  return {integers: kinds.map((kind) => (isRecurrent(kind) ? 0 : Number(heads)))}
}

/** The divisors of LongRoPE, and those of Gemma 4, a quarter of whose pairs are rotated. */
function divisorsOf({
  rope_scaling: scaling,
  model_type: family,
  global_head_dim: size,
}: Readonly<Record<string, unknown>>): Record<string, readonly number[]> {
  const pairs = Number(size) / 2
  if (family === 'gemma4_text')
    return {rope_freqs: Array.from({length: pairs}, (_, pair) => (pair < pairs / 4 ? 1 : 1e30))}
  const {short_factor: short, long_factor: long} = (scaling ?? {}) as Readonly<Record<string, readonly number[]>>
  return short === undefined || long === undefined ? {} : {rope_factors_short: short, rope_factors_long: long}
}

/** The scaling of a rotary embedding: linear, or YaRN. */
function scalingOf(scaling: unknown): Record<string, GgufEntry> {
  const values = (scaling ?? {}) as Readonly<Record<string, unknown>>
  const {rope_type: type, factor, original_max_position_embeddings: original} = values
  const magnitude = values.attention_factor
  if (type === 'longrope') return magnitude === undefined ? {} : {'rope.scaling.attn_factor': {f32: Number(magnitude)}}
  if (type !== 'linear' && type !== 'yarn') return {}
  return {
    'rope.scaling.type': {text: type},
    'rope.scaling.factor': {f32: Number(factor)},
    ...(original === undefined ? {} : {'rope.scaling.original_context_length': {u32: Number(original)}}),
    ...('mscale_all_dim' in values ? {'rope.scaling.yarn_log_multiplier': {f32: Number(values.mscale_all_dim)}} : {}),
    ...('llama_4_scaling_beta' in values
      ? {'attention.temperature_scale': {f32: Number(values.llama_4_scaling_beta)}}
      : {}),
  }
}

const entryOf = (value: unknown): GgufEntry => (typeof value === 'boolean' ? {flag: value} : {u32: Number(value)})

/** Tokens that an earlier merge makes have a higher score; others have none. */
function scoresOf(names: readonly string[], merges: TokenizerJson['model']['merges']): number[] {
  const order = new Map<string, number>()
  for (const merge of merges) {
    const token = typeof merge === 'string' ? merge.replace(' ', '') : merge.join('')
    if (!order.has(token)) order.set(token, order.size)
  }
  return names.map((name) => -(order.get(name) ?? merges.length))
}
