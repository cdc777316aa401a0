import {open} from 'node:fs/promises'
import {type GgufEntry, ggufHead, padded} from '../support/gguf-file.js'
import {ggufName} from '../support/gguf-model.js'
import {type RandomOptions, type Shape, tensorsOf, writeValues} from './random-model.js'

/**
 * Writes a model with random f32 weights and a generated vocabulary in the file format of llama.cpp, GGUF version 3, to
 * compare the speed for the same shape.
 */
export async function writeRandomGguf(path: string, shape: Shape, options: RandomOptions = {}): Promise<void> {
  const tensors = tensorsOf(shape)
  const sizes = tensors.map(([name, dims]) => ({
    name: ggufName(name, shape.model_type),
    type: 0,
    shape: dims,
    bytes: 4 * elements(dims),
  }))
  const file = await open(path, 'w')
  await file.write(ggufHead(metadataOf(shape), sizes))
  for (const [name, dims] of tensors) {
    await writeValues(file, name, dims, 'F32', options)
    const size = 4 * elements(dims)
    await file.write(padded(new Uint8Array(size % 32)).subarray(size % 32))
  }
  await file.close()
}

const elements = (dims: readonly number[]) => dims.reduce((product, dim) => product * dim, 1)

function metadataOf(shape: Shape): Record<string, GgufEntry> {
  const words = Array.from({length: shape.vocab_size}, (_, i) => `w${i}`)
  const key = (name: string) => `${shape.model_type}.${name}`
  return {
    'general.architecture': {text: shape.model_type},
    [key('context_length')]: {u32: shape.max_position_embeddings},
    [key('embedding_length')]: {u32: shape.hidden_size},
    [key('block_count')]: {u32: shape.num_hidden_layers},
    [key('feed_forward_length')]: {u32: shape.intermediate_size},
    [key('attention.head_count')]: {u32: shape.num_attention_heads},
    [key('attention.head_count_kv')]: {u32: shape.num_key_value_heads},
    [key('attention.layer_norm_rms_epsilon')]: {f32: shape.rms_norm_eps},
    [key('rope.dimension_count')]: {u32: shape.hidden_size / shape.num_attention_heads},
    [key('rope.freq_base')]: {f32: shape.rope_theta},
    'tokenizer.ggml.model': {text: 'gpt2'},
    'tokenizer.ggml.pre': {text: 'qwen2'},
    'tokenizer.ggml.tokens': {texts: words},
    'tokenizer.ggml.token_type': {integers: words.map(() => 1)},
    'tokenizer.ggml.merges': {texts: ['w w1']},
    'tokenizer.ggml.eos_token_id': {u32: shape.vocab_size - 1},
  }
}
