import {type FloatDtype, floatBytes, safetensorsFile} from './safetensors-file.js'
import {writeFiles} from './temporary.js'

export interface TinyLlama {
  vocabSize: number
  hiddenSize: number
  intermediateSize: number
  layers: number
  heads: number
  kvHeads: number
  headDim: number
  contextLength: number
  ropeTheta: number
  tied: boolean
  dtype: FloatDtype
  /** How the weights are laid out: one file, a numbered set with an index, or a numbered set alone. */
  layout: 'single' | 'indexed' | 'numbered'
  seed: number
}

export const tinyLlama: TinyLlama = {
  vocabSize: 257,
  hiddenSize: 48,
  intermediateSize: 80,
  layers: 2,
  heads: 4,
  kvHeads: 2,
  headDim: 16,
  contextLength: 1024,
  ropeTheta: 10_000,
  tied: false,
  dtype: 'F32',
  layout: 'indexed',
  seed: 1,
}

/** The `config.json` of a tiny Llama. */
export const tinyConfig = (model: TinyLlama): Record<string, unknown> => ({
  architectures: ['LlamaForCausalLM'],
  model_type: 'llama',
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
  tie_word_embeddings: model.tied,
  hidden_act: 'silu',
  torch_dtype: 'float32',
})

/** The files of a randomly initialised Llama with a byte-level tokenizer: complete, and small enough for any test. */
export function tinyLlamaFiles(changes: Partial<TinyLlama> = {}): Record<string, string | Uint8Array> {
  const model = {...tinyLlama, ...changes}
  return {
    'config.json': JSON.stringify(tinyConfig(model)),
    'tokenizer.json': JSON.stringify(byteTokenizer()),
    'tokenizer_config.json': JSON.stringify({bos_token: '<s>', tokenizer_class: 'LlamaTokenizer'}),
    ...weightFiles(model),
  }
}

export const writeTinyLlama = (folder: string, changes: Partial<TinyLlama> = {}): Promise<void> =>
  writeFiles(folder, tinyLlamaFiles(changes))

function weightFiles(model: TinyLlama): Record<string, string | Uint8Array> {
  const random = gaussian(model.seed)
  const tensors = Object.entries(tensorShapes(model)).map(([name, shape]) => {
    const size = shape.reduce((product, dim) => product * dim, 1)
    const norm = shape.length === 1
    // Wide enough that attention attends to something, so that a wrong position would show.
    const scale = norm ? 0.1 : 2 / Math.sqrt(shape[1] as number)
    const values = Float32Array.from({length: size}, () => (norm ? 1 : 0) + scale * random())
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

function tensorShapes(model: TinyLlama): Record<string, readonly number[]> {
  const {vocabSize, hiddenSize, intermediateSize, heads, kvHeads, headDim} = model
  const shapes: Record<string, readonly number[]> = {'model.embed_tokens.weight': [vocabSize, hiddenSize]}
  for (let i = 0; i < model.layers; i++) {
    const layer = `model.layers.${i}`
    shapes[`${layer}.input_layernorm.weight`] = [hiddenSize]
    shapes[`${layer}.self_attn.q_proj.weight`] = [heads * headDim, hiddenSize]
    shapes[`${layer}.self_attn.k_proj.weight`] = [kvHeads * headDim, hiddenSize]
    shapes[`${layer}.self_attn.v_proj.weight`] = [kvHeads * headDim, hiddenSize]
    shapes[`${layer}.self_attn.o_proj.weight`] = [hiddenSize, heads * headDim]
    shapes[`${layer}.post_attention_layernorm.weight`] = [hiddenSize]
    shapes[`${layer}.mlp.gate_proj.weight`] = [intermediateSize, hiddenSize]
    shapes[`${layer}.mlp.up_proj.weight`] = [intermediateSize, hiddenSize]
    shapes[`${layer}.mlp.down_proj.weight`] = [hiddenSize, intermediateSize]
  }
  shapes['model.norm.weight'] = [hiddenSize]
  if (!model.tied) shapes['lm_head.weight'] = [vocabSize, hiddenSize]
  return shapes
}

/** A tokenizer of one token per byte, and a beginning-of-text token, id 256. */
export function byteTokenizer(): object {
  const vocab = Object.fromEntries([...byteAlphabet().map((letter, byte) => [letter, byte]), ['<s>', 256]])
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

/** GPT-2's letters for the bytes 0 to 255: printable ones stand for themselves, the others follow from U+0100 on. */
function byteAlphabet(): string[] {
  const printable = (byte: number) =>
    (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || (byte >= 174 && byte <= 255)
  let next = 256
  return Array.from({length: 256}, (_, byte) => String.fromCodePoint(printable(byte) ? byte : next++))
}

/** Seeded normal numbers: a linear congruential generator and the Box-Muller transform. */
function gaussian(seed: number): () => number {
  let state = BigInt(seed)
  const uniform = () => {
    state = (state * 6364136223846793005n + 1442695040888963407n) & 0xffffffffffffffffn
    return (Number(state >> 11n) + 1) / 2 ** 53
  }
  return () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform())
}
