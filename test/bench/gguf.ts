import {open} from 'node:fs/promises'
import type {qwen05b} from './random-model.js'

type Shape = typeof qwen05b

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
 * Writes a Qwen2 with random f32 weights and a generated vocabulary in the file format of llama.cpp, GGUF version 3, to
 * compare the speed for the same shape.
 */
export async function writeRandomGguf(path: string, shape: Shape): Promise<void> {
  const tensors = tensorsOf(shape)
  const metadata = metadataOf(shape)
  const head = new Bytes()
  head.raw(Buffer.from('GGUF')).u32(3).u64(tensors.length).u64(metadata.length)
  for (const write of metadata) write(head)
  let offset = 0
  for (const [name, dims] of tensors) {
    head.text(name).u32(dims.length)
    for (const dim of [...dims].reverse()) head.u64(dim)
    head.u32(tensorF32).u64(offset)
    offset += Math.ceil((4 * elements(dims)) / alignment) * alignment
  }
  const start = head.finish()
  const file = await open(path, 'w')
  await file.write(Buffer.concat([start, Buffer.alloc((alignment - (start.length % alignment)) % alignment)]))
  const pool = Float32Array.from({length: 1 << 20}, () => (Math.random() - 0.5) / 16)
  for (const [name, dims] of tensors) {
    const values = name.endsWith('norm.weight') ? new Float32Array(pool.length).fill(1) : pool
    for (let left = elements(dims); left > 0; ) {
      const part = values.subarray(0, Math.min(values.length, left))
      await file.write(new Uint8Array(part.buffer, part.byteOffset, part.byteLength))
      left -= part.length
    }
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
  return [
    text('general.architecture', 'qwen2'),
    number('qwen2.context_length', uint32, shape.max_position_embeddings),
    number('qwen2.embedding_length', uint32, shape.hidden_size),
    number('qwen2.block_count', uint32, shape.num_hidden_layers),
    number('qwen2.feed_forward_length', uint32, shape.intermediate_size),
    number('qwen2.attention.head_count', uint32, shape.num_attention_heads),
    number('qwen2.attention.head_count_kv', uint32, shape.num_key_value_heads),
    number('qwen2.attention.layer_norm_rms_epsilon', float32, shape.rms_norm_eps),
    number('qwen2.rope.freq_base', float32, shape.rope_theta),
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

function tensorsOf(shape: Shape): [string, number[]][] {
  const {hidden_size: hidden, intermediate_size: inner} = shape
  const kv = (hidden / shape.num_attention_heads) * shape.num_key_value_heads
  const layer = (i: number): [string, number[]][] => [
    [`blk.${i}.attn_norm.weight`, [hidden]],
    [`blk.${i}.attn_q.weight`, [hidden, hidden]],
    [`blk.${i}.attn_q.bias`, [hidden]],
    [`blk.${i}.attn_k.weight`, [kv, hidden]],
    [`blk.${i}.attn_k.bias`, [kv]],
    [`blk.${i}.attn_v.weight`, [kv, hidden]],
    [`blk.${i}.attn_v.bias`, [kv]],
    [`blk.${i}.attn_output.weight`, [hidden, hidden]],
    [`blk.${i}.ffn_norm.weight`, [hidden]],
    [`blk.${i}.ffn_gate.weight`, [inner, hidden]],
    [`blk.${i}.ffn_up.weight`, [inner, hidden]],
    [`blk.${i}.ffn_down.weight`, [hidden, inner]],
  ]
  return [
    ['token_embd.weight', [shape.vocab_size, hidden]],
    ...Array.from({length: shape.num_hidden_layers}, (_, i) => layer(i)).flat(),
    ['output_norm.weight', [hidden]],
  ]
}

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
