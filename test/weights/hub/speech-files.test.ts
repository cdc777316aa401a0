import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {speechModelFiles} from '../../../src/weights/index.js'

const beside = ['config.json', 'tokenizer.json']
const merged = ['onnx/encoder_model.onnx', 'onnx/decoder_model_merged.onnx']
const shards = ['model-00001-of-00002.safetensors', 'model-00002-of-00002.safetensors']
const index = 'model.safetensors.index.json'

/** Weights in a repository, and those of them that are selected. */
const repositories: Readonly<Record<string, readonly [has: readonly string[], taken: readonly string[]]>> = {
  'one safetensors file and other formats': [
    [
      'model.safetensors',
      'model.fp16.safetensors',
      'pytorch_model.bin',
      'tf_model.h5',
      'flax_model.msgpack',
      ...merged,
    ],
    ['model.safetensors'],
  ],
  shards: [
    [index, ...shards],
    [index, ...shards],
  ],
  'a missing shard': [[index, shards[0] ?? ''], []],
  'a missing shard and an export': [[shards[0] ?? '', ...merged], merged],
  'an export in several precisions': [[...merged, 'onnx/encoder_model_q4.onnx', 'onnx/decoder_model.onnx'], merged],
  'an export with external data': [
    [...merged, 'onnx/encoder_model.onnx_data', 'onnx/encoder_model.onnx_data_1', 'onnx/encoder_model_fp16.onnx_data'],
    [...merged, 'onnx/encoder_model.onnx_data', 'onnx/encoder_model.onnx_data_1'],
  ],
  'an export in the root folder': [
    ['encoder_model.onnx', 'decoder_model_merged.onnx'],
    ['encoder_model.onnx', 'decoder_model_merged.onnx'],
  ],
  'an export with two decoders': [
    ['onnx/encoder_model.onnx', 'onnx/decoder_model.onnx', 'onnx/decoder_with_past_model.onnx'],
    ['onnx/encoder_model.onnx', 'onnx/decoder_model.onnx', 'onnx/decoder_with_past_model.onnx'],
  ],
  'only an 8-bit export': [
    ['onnx/encoder_model_quantized.onnx', 'onnx/decoder_model_merged_quantized.onnx', 'onnx/encoder_model.onnx'],
    ['onnx/encoder_model_quantized.onnx', 'onnx/decoder_model_merged_quantized.onnx'],
  ],
  'a CTC model with an export': [['model.safetensors', 'onnx/model.onnx'], ['onnx/model.onnx']],
  'whisper.cpp files': [['ggml-tiny.bin', 'ggml-large-v3.bin'], []],
}

describe('speechModelFiles: a repository with', () => {
  for (const [what, [has, taken]] of Object.entries(repositories))
    it(`${what}: selects ${taken.length === 0 ? 'nothing' : 'the supported weights'}`, () => {
      const files = speechModelFiles(['README.md', ...beside, ...has])
      assert.deepEqual(files, taken.length === 0 ? [] : [...beside, ...taken])
    })
})
