import {open} from 'node:fs/promises'
import {type RandomOptions, type Shape, tensorsOf, writeValues} from './random-model.js'

/** Types of metadata values. */
const uint32 = 4
const float32 = 6
const string = 8
const array = 9
const int32 = 5

/** Type numbers of tensors; 0 is F32. */
const tensorF32 = 0
const alignment = 32

/**
 * Writes a model with random f32 weights and a generated vocabulary in the file format of llama.cpp, GGUF version 3, to
 * compare the speed for the same shape.
 */
export async function writeRandomGguf(path: string, shape: Shape, options: RandomOptions = {}): Promise<void> {
  const tensors = tensorsOf(shape)
  const metadata = metadataOf(shape)
  const head = new Bytes()
  head.raw(Buffer.from('GGUF')).u32(3).u64(tensors.length).u64(metadata.length)
  for (const write of metadata) write(head)
  let offset = 0
  for (const [name, dims] of tensors) {
    head.text(nameOf(name)).u32(dims.length)
    for (const dim of [...dims].reverse()) head.u64(dim)
    head.u32(tensorF32).u64(offset)
    offset += Math.ceil((4 * elements(dims)) / alignment) * alignment
  }
  const start = head.finish()
  const file = await open(path, 'w')
  await file.write(Buffer.concat([start, Buffer.alloc((alignment - (start.length % alignment)) % alignment)]))
  for (const [name, dims] of tensors) {
    await writeValues(file, name, dims, 'F32', options)
    const tail = (4 * elements(dims)) % alignment
    if (tail > 0) await file.write(Buffer.alloc(alignment - tail))
  }
  await file.close()
}

const elements = (dims: readonly number[]) => dims.reduce((product, dim) => product * dim, 1)

function metadataOf(shape: Shape): ((bytes: Bytes) => void)[] {
  const number = (key: string, type: number, value: number) => (bytes: Bytes) => {
    bytes.text(key).u32(type)
    if (type === float32) bytes.f32(value)
    else bytes.u32(value)
  }
  const text = (key: string, value: string) => (bytes: Bytes) => {
    bytes.text(key).u32(string).text(value)
  }
  const words = Array.from({length: shape.vocab_size}, (_, i) => `w${i}`)
  const key = (name: string) => `${shape.model_type}.${name}`
  return [
    text('general.architecture', shape.model_type),
    number(key('context_length'), uint32, shape.max_position_embeddings),
    number(key('embedding_length'), uint32, shape.hidden_size),
    number(key('block_count'), uint32, shape.num_hidden_layers),
    number(key('feed_forward_length'), uint32, shape.intermediate_size),
    number(key('attention.head_count'), uint32, shape.num_attention_heads),
    number(key('attention.head_count_kv'), uint32, shape.num_key_value_heads),
    number(key('attention.layer_norm_rms_epsilon'), float32, shape.rms_norm_eps),
    number(key('rope.dimension_count'), uint32, shape.hidden_size / shape.num_attention_heads),
    number(key('rope.freq_base'), float32, shape.rope_theta),
    text('tokenizer.ggml.model', 'gpt2'),
    text('tokenizer.ggml.pre', 'qwen2'),
    (bytes) => {
      bytes.text('tokenizer.ggml.tokens').u32(array).u32(string).u64(words.length)
      for (const word of words) bytes.text(word)
    },
    (bytes) => {
      bytes.text('tokenizer.ggml.token_type').u32(array).u32(int32).u64(words.length)
      for (const _ of words) bytes.u32(1)
    },
    (bytes) => {
      bytes.text('tokenizer.ggml.merges').u32(array).u32(string).u64(1).text('w w1')
    },
    number('tokenizer.ggml.eos_token_id', uint32, shape.vocab_size - 1),
  ]
}

/** Names of the parts of tensor names. */
const parts: Readonly<Record<string, string>> = {
  'model.layers': 'blk',
  'self_attn.q_proj': 'attn_q',
  'self_attn.k_proj': 'attn_k',
  'self_attn.v_proj': 'attn_v',
  'self_attn.o_proj': 'attn_output',
  input_layernorm: 'attn_norm',
  post_attention_layernorm: 'ffn_norm',
  'mlp.gate_proj': 'ffn_gate',
  'mlp.up_proj': 'ffn_up',
  'mlp.down_proj': 'ffn_down',
  'model.embed_tokens': 'token_embd',
  'model.norm': 'output_norm',
  lm_head: 'output',
}

const nameOf = (name: string): string =>
  Object.entries(parts).reduce((changed, [part, other]) => changed.replace(part, other), name)

/** Builds little-endian data. */
class Bytes {
  readonly #parts: Buffer[] = []

  raw(part: Buffer): this {
    this.#parts.push(part)
    return this
  }

  u32(value: number): this {
    const part = Buffer.alloc(4)
    part.writeUInt32LE(value)
    return this.raw(part)
  }

  u64(value: number): this {
    const part = Buffer.alloc(8)
    part.writeBigUInt64LE(BigInt(value))
    return this.raw(part)
  }

  f32(value: number): this {
    const part = Buffer.alloc(4)
    part.writeFloatLE(value)
    return this.raw(part)
  }

  text(value: string): this {
    const part = Buffer.from(value)
    return this.u64(part.length).raw(part)
  }

  finish(): Buffer {
    return Buffer.concat(this.#parts)
  }
}
