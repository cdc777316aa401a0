import assert from 'node:assert/strict'
import {mkdir, rm, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {before, describe, it} from 'node:test'
import {readDecoderSpec} from '../../src/llm/families/index.js'
import type {DecoderSpec} from '../../src/llm/spec.js'
import {openRunDirectory, readTensorFloat32, withParts} from '../../src/weights/index.js'
import {type GgufEntry, ggufFile} from '../support/gguf-file.js'
import {ggufOf, writeGguf} from '../support/gguf-model.js'
import {lfsPointer} from '../support/safetensors-file.js'
import {suiteFolder, temporaryFolder} from '../support/temporary.js'
import {tinyFamilies} from '../support/tiny-families.js'
import {type TinyFamily, type TinyModel, tinyModel, writeTinyModel} from '../support/tiny-model.js'

const specOf = async (path: string) => {
  const {config, readConfig, tensors} = await openRunDirectory(path)
  return readDecoderSpec(await readConfig(), config, (name) => tensors.has(name))
}

/** What follows from the sizes in the format of llama.cpp. */
const impliedConfig: Partial<Record<TinyFamily, object>> = {
  gemma2: {query_pre_attn_scalar: tinyModel.headDim},
  qwen3_moe: {mlp_only_layers: []},
  qwen3_5_text: {linear_num_value_heads: 2},
  gemma3_text: {query_pre_attn_scalar: tinyModel.headDim, rope_local_base_freq: 10_000},
}

/** Models whose files in the format of llama.cpp say everything; those of Mistral have no window. */
const models: readonly Partial<TinyModel>[] = [
  {family: 'llama', layout: 'single', kvHeads: 4},
  {family: 'llama', layout: 'single', tied: true, seed: 2},
  ...Object.values(tinyFamilies)
    .filter(({family}) => family !== 'mistral')
    .map((changes) => ({...changes, config: {...changes.config, ...impliedConfig[changes.family ?? 'llama']}})),
]

/** GGUF files have epsilons as 32-bit floats. */
const withRoundedEpsilons = (spec: DecoderSpec): unknown =>
  JSON.parse(JSON.stringify(spec, (key, value) => (key === 'normEps' ? Math.fround(value) : value)))

describe('a GGUF file', () => {
  for (const changes of models)
    it(`of the family ${changes.family}${changes.tied ? ', tied,' : ''} is the same model as its safetensors files`, async (test) => {
      const folder = await temporaryFolder(test)
      await writeTinyModel(folder, changes)
      const file = join(folder, 'tiny.gguf')
      await writeGguf(file, folder, {type: 'F32'})
      const [expected, found] = [await openRunDirectory(folder), await openRunDirectory(file)]
      assert.deepEqual([found.name, found.path, found.trained], ['tiny', file, false])
      const [spec, own] = [await specOf(folder), await specOf(file)]
      // Only one of them may have the parts of a fused matrix as tensors of their own.
      const isFusedThere = (name: string) =>
        !found.tensors.has(name) && spec.fused.some((matrix) => matrix.name === name)
      const tensors = [...withParts(expected.tensors, spec.fused)].filter(([name]) => !isFusedThere(name))
      assert.deepEqual([...withParts(found.tensors, spec.fused).keys()].sort(), tensors.map(([name]) => name).sort())
      for (const [name, entry] of tensors) {
        if (!found.tensors.has(name)) continue
        const other = found.tensors.get(name) as typeof entry
        assert.deepEqual(other.shape, entry.shape)
        const [values, own] = [await readTensorFloat32(entry), await readTensorFloat32(other)]
        // The weights of norms that are stored plus 1 are rounded, and so are logarithms of decays.
        const difference = Math.max(...values.map((value, i) => Math.abs(value - (own[i] as number))))
        const isRounded = other.surplus !== undefined || other.isNegativeExp === true
        assert.ok(difference <= (isRounded ? 2 ** -22 : 0), `${name} ${difference}`)
      }
      assert.deepEqual(withRoundedEpsilons(own), withRoundedEpsilons(spec))
    })

  describe('with other metadata', () => {
    const folder = suiteFolder()
    before(() => writeTinyModel(folder, {layout: 'single'}))
    const withMetadata = async (metadata: Readonly<Record<string, GgufEntry>>) => {
      const file = join(folder, 'other.gguf')
      await writeGguf(file, folder, {type: 'F16', metadata})
      return file
    }

    it('scales the rotary embedding', async () => {
      const file = await withMetadata({
        'llama.rope.scaling.type': {text: 'yarn'},
        'llama.rope.scaling.factor': {f32: 4},
        'llama.rope.scaling.original_context_length': {u32: 256},
      })
      const [layer] = (await specOf(file)).layers
      assert.deepEqual(
        {...layer?.attention?.rope?.scaling},
        {
          kind: 'yarn',
          factor: 4,
          attentionFactor: 0.1 * Math.log(4) + 1,
          betaFast: 32,
          betaSlow: 1,
          originalContext: 256,
          truncate: true,
        },
      )
    })

    it('has its chat template, special tokens and settings', async () => {
      const file = await withMetadata({
        'tokenizer.chat_template': {text: '{{ messages[0].content }}'},
        'tokenizer.ggml.eot_token_id': {u32: 255},
        'general.license': {text: 'mit'},
        'general.sampling.temp': {f32: 0.5},
      })
      const {declarations, licenseName} = await openRunDirectory(file)
      assert.deepEqual(declarations, {
        tokenizer: {bos_token: '<s>'},
        generation: {temperature: 0.5, eos_token_id: [255]},
        template: {declared: '{{ messages[0].content }}', file},
      })
      assert.equal(licenseName, 'mit')
    })

    it('is refused if a key that it does not know could change the computation', async () => {
      const file = await withMetadata({'llama.attention.clamp_kqv': {f32: 8}})
      await assert.rejects(specOf(file), {
        code: 'model_config_unsupported',
        message: /sets llama\.attention\.clamp_kqv to 8, which is not supported/,
      })
    })
  })

  it('divides the frequencies of the rotary embedding as rope_freqs says', async (test) => {
    const folder = await temporaryFolder(test)
    const data = new Uint8Array(Float32Array.of(1, 1, 2, 8).buffer)
    const file = join(folder, 'a.gguf')
    const u32 = (value: number) => ({u32: value})
    const metadata = {
      'general.architecture': {text: 'llama'},
      'llama.context_length': u32(64),
      'llama.embedding_length': u32(16),
      'llama.attention.head_count': u32(2),
      'llama.block_count': u32(1),
      'llama.vocab_size': u32(4),
      'tokenizer.ggml.model': {text: 'gpt2'},
      'tokenizer.ggml.pre': {text: 'llama-bpe'},
      'tokenizer.ggml.tokens': {texts: ['a', 'b', 'c', 'd']},
    }
    const tensors = [
      {name: 'rope_freqs.weight', type: 0, shape: [4], data},
      {name: 'token_embd.weight', type: 0, shape: [4, 16], data: new Uint8Array(256)},
    ]
    await writeFile(file, ggufFile(metadata, tensors))
    const [layer] = (await specOf(file)).layers
    assert.deepEqual(layer?.attention?.rope?.scaling, {kind: 'divided', divisors: [1, 1, 2, 8]})
  })

  it('that is split is opened by its first part', async (test) => {
    const folder = await temporaryFolder(test)
    await writeTinyModel(folder, {layout: 'single'})
    const whole = await ggufOf(folder, {type: 'F32'})
    await writeFile(join(folder, 'whole.gguf'), whole)
    const {tensors} = await openRunDirectory(join(folder, 'whole.gguf'))
    const split = (no: number) => ({'split.count': {u32: 2}, 'split.no': {u32: no}})
    await writeGguf(join(folder, 'm-00001-of-00002.gguf'), folder, {
      type: 'F32',
      metadata: split(0),
      keep: (name) => !name.startsWith('blk.1.'),
    })
    const second = join(folder, 'm-00002-of-00002.gguf')
    await writeGguf(second, folder, {type: 'F32', metadata: split(1), keep: (name) => name.startsWith('blk.1.')})
    const first = join(folder, 'm-00001-of-00002.gguf')
    const found = await openRunDirectory(first)
    assert.equal(found.name, 'm')
    assert.deepEqual([...found.tensors.keys()].sort(), [...tensors.keys()].sort())
    await assert.rejects(openRunDirectory(second), {
      code: 'gguf_invalid',
      message: /it is part 2 of 2; the first is m-00001-of-00002\.gguf/,
    })
    await rm(second)
    await assert.rejects(openRunDirectory(first), {
      code: 'shard_missing',
      message: /The shard m-00002-of-00002\.gguf, which m-00001-of-00002\.gguf requires, is missing/,
    })
  })

  it('is found in a folder that contains no other model', async (test) => {
    const folder = await temporaryFolder(test)
    await writeTinyModel(folder, {layout: 'single'})
    const models = join(folder, 'models')
    await mkdir(models)
    await writeGguf(join(models, 'a.gguf'), folder, {type: 'F16'})
    await writeFile(join(models, 'mmproj-a.gguf'), '')
    assert.equal((await openRunDirectory(models)).basePath, join(models, 'a.gguf'))
    await writeFile(join(models, 'b.gguf'), '')
    await assert.rejects(openRunDirectory(models), {code: 'gguf_several', hint: /such as .*a\.gguf/})
  })
})

describe('an invalid GGUF file is refused', () => {
  const folder = suiteFolder()
  let valid: Buffer
  before(async () => {
    await writeTinyModel(folder, {layout: 'single'})
    valid = await ggufOf(folder, {type: 'F16'})
  })
  const changed = (change: (bytes: Buffer) => void) => {
    const bytes = Buffer.from(valid)
    change(bytes)
    return bytes
  }
  const withTensor = (name: string, type: number) =>
    ggufFile({'general.architecture': {text: 'llama'}}, [{name, type, shape: [1, 256], data: new Uint8Array(1024)}])

  const cases: Readonly<Record<string, [bytes: () => Uint8Array | string, code: string, message: RegExp]>> = {
    'that is empty': [() => '', 'gguf_invalid', /it is empty/],
    'of another format': [() => 'PK\u0003\u0004 and more', 'gguf_invalid', /it does not start with GGUF/],
    'that Git LFS has not downloaded': [() => lfsPointer(1000), 'lfs_pointer', /to a file of 1000 bytes/],
    'whose header is truncated': [
      () => valid.subarray(0, 300),
      'gguf_invalid',
      /it ends at byte 300, within its header/,
    ],
    'whose data is truncated': [
      () => valid.subarray(0, -1000),
      'gguf_invalid',
      /the tensor .* is in the bytes \d+ to \d+, but the file has \d+; it is not complete/,
    ],
    'with other byte order': [
      () => changed((bytes) => bytes.subarray(4, 8).reverse()),
      'gguf_unsupported',
      /uses big-endian byte order, which/,
    ],
    'of the first version': [
      () => changed((bytes) => bytes.writeUInt32LE(1, 4)),
      'gguf_unsupported',
      /uses version 1 of the format/,
    ],
    'with too many tensors': [
      () => changed((bytes) => bytes.writeUInt32LE(0xffff_ffff, 8)),
      'gguf_invalid',
      /its header declares \d+ entries, but the file has/,
    ],
    'of another architecture': [
      () => ggufFile({'general.architecture': {text: 'mamba'}}, []),
      'model_family_unknown',
      /has the model type "mamba", which is not supported; supported types: llama, qwen2, qwen3, qwen3moe, qwen35, gemma2, gemma3, gemma4, smollm3, olmo2, granite, granitehybrid, phi3/,
    ],
    'of Qwen3.5 with several heads of values in a block': [
      () =>
        ggufFile(
          {
            'general.architecture': {text: 'qwen35'},
            'qwen35.ssm.group_count': {u32: 2},
            'qwen35.ssm.state_size': {u32: 16},
            'qwen35.ssm.time_step_rank': {u32: 4},
            'qwen35.ssm.inner_size': {u32: 64},
          },
          [{name: 'blk.0.ssm_out.weight', type: 8, shape: [1, 64], data: new Uint8Array(68)}],
        ),
      'gguf_unsupported',
      /uses heads of 16 values in blocks of the type Q8_0 \(tensor model\.layers\.0\.linear_attn\.out_proj\.weight\)/,
    ],
    'with a part of a head': [
      () =>
        ggufFile({'general.architecture': {text: 'llama'}, 'llama.attention.key_length': {u32: 4}}, [
          {name: 'blk.0.attn_q.weight', type: 0, shape: [6, 2], data: new Uint8Array(48)},
        ]),
      'gguf_invalid',
      /the tensor model\.layers\.0\.self_attn\.q_proj\.weight has 6 rows, which are not complete heads/,
    ],
    'without an architecture': [() => ggufFile({}, []), 'gguf_invalid', /it has no general\.architecture/],
    'with a type that is not supported': [
      () => withTensor('token_embd.weight', 16),
      'gguf_unsupported',
      /uses the type IQ2_XXS \(tensor token_embd\.weight\), which/,
    ],
    'with a type of the future': [() => withTensor('output.weight', 99), 'gguf_unsupported', /the type number 99/],
    'with an unknown tensor': [
      () => withTensor('blk.0.ffn_gate_inp.weight', 0),
      'gguf_unsupported',
      /uses the tensor blk\.0\.ffn_gate_inp\.weight/,
    ],
    'with rows of incomplete blocks': [
      () =>
        ggufFile({'general.architecture': {text: 'llama'}}, [
          {name: 'output.weight', type: 8, shape: [2, 48], data: new Uint8Array(102)},
        ]),
      'gguf_invalid',
      /the rows of the tensor output\.weight are not complete blocks of the type Q8_0/,
    ],
    'with another tokenizer': [
      () => ggufFile({'general.architecture': {text: 'llama'}, 'tokenizer.ggml.model': {text: 'bert'}}, []),
      'tokenizer_unsupported',
      /uses the tokenizer "bert"/,
    ],
    'with an unknown pre-tokenizer': [
      () =>
        ggufFile(
          {
            'general.architecture': {text: 'llama'},
            'tokenizer.ggml.model': {text: 'gpt2'},
            'tokenizer.ggml.pre': {text: 'viking'},
          },
          [],
        ),
      'tokenizer_unsupported',
      /uses the pre-tokenizer "viking"/,
    ],
  }
  for (const [what, [bytes, code, message]] of Object.entries(cases))
    it(what, async () => {
      const file = join(folder, 'invalid.gguf')
      await writeFile(file, bytes())
      await assert.rejects(openRunDirectory(file), {code, message})
    })
})
