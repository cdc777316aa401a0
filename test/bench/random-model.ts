import {type FileHandle, open} from 'node:fs/promises'
import {join} from 'node:path'
import {randomSource} from '../../src/sampling/index.js'
import {writeFiles} from '../support/temporary.js'
import {byteTokenizer} from '../support/tiny-model.js'

/** Qwen2.5-0.5B: its shape, with random weights. */
export const qwen05b = {
  architectures: ['Qwen2ForCausalLM'],
  model_type: 'qwen2',
  vocab_size: 151_936,
  hidden_size: 896,
  intermediate_size: 4864,
  num_hidden_layers: 24,
  num_attention_heads: 14,
  num_key_value_heads: 2,
  max_position_embeddings: 32_768,
  rms_norm_eps: 1e-6,
  rope_theta: 1_000_000,
  tie_word_embeddings: true,
  hidden_act: 'silu',
  use_sliding_window: false,
}

export type Shape = Omit<typeof qwen05b, 'use_sliding_window'>

/** TinyLlama 1.1B: its shape, with random weights. */
export const tinyLlama: Shape = {
  architectures: ['LlamaForCausalLM'],
  model_type: 'llama',
  vocab_size: 32_000,
  hidden_size: 2048,
  intermediate_size: 5632,
  num_hidden_layers: 22,
  num_attention_heads: 32,
  num_key_value_heads: 4,
  max_position_embeddings: 2048,
  rms_norm_eps: 1e-5,
  rope_theta: 10_000,
  tie_word_embeddings: false,
  hidden_act: 'silu',
}

export interface RandomOptions {
  /**
   * Whether each token is followed by the next one of the vocabulary, so that all programs generate the same text. The
   * layers add zero, and each row of the head, which must not be tied, is the previous row of the embedding.
   */
  chain?: boolean
}

/**
 * Writes a model directory with random weights of realistic magnitude and a byte tokenizer.
 * @param tensors names and dimensions; default: those of Llama and Qwen2
 */
export async function writeRandomModel(
  folder: string,
  shape: Shape,
  dtype: 'F32' | 'BF16',
  options: RandomOptions = {},
  tensors = tensorsOf(shape),
): Promise<void> {
  await writeFiles(folder, {
    'config.json': JSON.stringify(shape),
    'tokenizer.json': JSON.stringify(byteTokenizer(shape.vocab_size)),
    'tokenizer_config.json': JSON.stringify({bos_token: '<s>'}),
  })
  const bytes = dtype === 'F32' ? 4 : 2
  const header: Record<string, object> = {}
  let end = 0
  for (const [name, dims] of tensors) {
    const start = end
    end += dims.reduce((product, dim) => product * dim, bytes)
    header[name] = {dtype, shape: dims, data_offsets: [start, end]}
  }
  const json = JSON.stringify(header)
  const padded = json.padEnd(Math.ceil(json.length / 8) * 8)
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(padded.length))
  const file = await open(join(folder, 'model.safetensors'), 'w')
  await file.write(length)
  await file.write(padded)
  for (const [name, dims] of tensors) await writeValues(file, name, dims, dtype, options)
  await file.close()
}

/** The same in each process, so that a failure can be repeated. */
const random = randomSource(1)

/** Approximately normal values, repeated. Their number and the usual lengths of rows are coprime, so all rows differ. */
const pool = Float32Array.from({length: 2 ** 20 - 1}, () => (random() + random() + random() - 1.5) * 2)

/** Writes the values of a tensor at the end of a file. */
export async function writeValues(
  file: FileHandle,
  name: string,
  dims: readonly number[],
  dtype: 'F32' | 'BF16',
  {chain = false}: RandomOptions = {},
): Promise<void> {
  const size = dims.reduce((product, dim) => product * dim, 1)
  const norm = name.endsWith('norm.weight')
  const zero = chain && /(o|down)_proj/.test(name)
  const scale = zero ? 0 : dims.length === 1 ? 0.02 : 1 / Math.sqrt(dims[1] as number)
  const values = pool.map((value) => (norm ? 1 : value * scale))
  const narrow = Uint16Array.from(new Uint32Array(values.buffer), (bits) => bits >>> 16)
  const source = dtype === 'F32' ? values : narrow
  let start = Math.floor(random() * source.length)
  if (chain && name.includes('embed_tokens')) start = 0
  if (chain && name.includes('lm_head')) start = source.length - (dims[1] as number)
  for (let left = size; left > 0; start = 0) {
    const part = source.subarray(start, Math.min(source.length, start + left))
    await file.write(new Uint8Array(part.buffer, part.byteOffset, part.byteLength))
    left -= part.length
  }
}

/** Names and dimensions of the tensors of a shape. Qwen2 has biases. */
export function tensorsOf(shape: Shape): [string, number[]][] {
  const {hidden_size: hidden, intermediate_size: inner, vocab_size: vocab} = shape
  const bias = (name: string, size: number): [string, number[]][] =>
    shape.model_type === 'qwen2' ? [[`${name}.bias`, [size]]] : []
  const kv = (hidden / shape.num_attention_heads) * shape.num_key_value_heads
  const layer = (i: number): [string, number[]][] => {
    const prefix = `model.layers.${i}`
    return [
      [`${prefix}.input_layernorm.weight`, [hidden]],
      [`${prefix}.self_attn.q_proj.weight`, [hidden, hidden]],
      ...bias(`${prefix}.self_attn.q_proj`, hidden),
      [`${prefix}.self_attn.k_proj.weight`, [kv, hidden]],
      ...bias(`${prefix}.self_attn.k_proj`, kv),
      [`${prefix}.self_attn.v_proj.weight`, [kv, hidden]],
      ...bias(`${prefix}.self_attn.v_proj`, kv),
      [`${prefix}.self_attn.o_proj.weight`, [hidden, hidden]],
      [`${prefix}.post_attention_layernorm.weight`, [hidden]],
      [`${prefix}.mlp.gate_proj.weight`, [inner, hidden]],
      [`${prefix}.mlp.up_proj.weight`, [inner, hidden]],
      [`${prefix}.mlp.down_proj.weight`, [hidden, inner]],
    ]
  }
  return [
    ['model.embed_tokens.weight', [vocab, hidden]],
    ...Array.from({length: shape.num_hidden_layers}, (_, i) => layer(i)).flat(),
    ['model.norm.weight', [hidden]],
    ...(shape.tie_word_embeddings ? [] : [['lm_head.weight', [vocab, hidden]] as [string, number[]]]),
  ]
}
