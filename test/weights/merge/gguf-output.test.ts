import assert from 'node:assert/strict'
import {readFile} from 'node:fs/promises'
import {join} from 'node:path'
import {before, describe, it} from 'node:test'
import {readDecoderSpec} from '../../../src/llm/families/index.js'
import {describeGguf} from '../../../src/llm/index.js'
import {createTokenizer} from '../../../src/text/index.js'
import {
  type MergeRequest,
  mergeAdapter,
  openRunDirectory,
  type RunDirectory,
  readTensorFloat32,
  readTensorMap,
  type TensorEntry,
  type TensorMap,
  withParts,
} from '../../../src/weights/index.js'
import {writeGguf} from '../../support/gguf-model.js'
import {sharedData, skipWithout} from '../../support/project.js'
import {safetensorsFile} from '../../support/safetensors-file.js'
import {suiteFolder, temporaryFolder, writeFiles} from '../../support/temporary.js'
import {tinyFamilies} from '../../support/tiny-families.js'
import {
  byteTokenizer,
  type TinyFamily,
  type TinyModel,
  tinyAdapterFiles,
  tinyModelFiles,
} from '../../support/tiny-model.js'

const choices = {full: false, dtype: undefined, untie: false, overwrite: false}

/** With the words of GPT-2, which have a name in the metadata. */
const tokenizer = {
  ...byteTokenizer(),
  pre_tokenizer: {type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true},
}

async function writeRun(run: string, model: Partial<TinyModel>, files: Record<string, string> = {}): Promise<void> {
  await writeFiles(run, {
    ...tinyModelFiles(model),
    'tokenizer.json': JSON.stringify(tokenizer),
    ...tinyAdapterFiles(model, {form: 'peft', head: false}),
    ...files,
  })
}

/** Merges a run into a GGUF file, and into a directory with 32-bit floats. */
async function mergeBoth(folder: string, changes: Partial<MergeRequest> = {}) {
  const source = {run: join(folder, 'run'), cwd: folder}
  const whole = join(folder, 'whole')
  await mergeAdapter({...choices, source, output: whole, full: true, dtype: 'F32'})
  const output = join(folder, 'merged.gguf')
  const merged = await mergeAdapter({...choices, source, output, gguf: describeGguf(), ...changes})
  return {merged, found: await openRunDirectory(output), expected: await openRunDirectory(whole)}
}

const largest = (values: Float32Array) => values.reduce((most, value) => Math.max(most, Math.abs(value)), 0)

/** Difference of the values of two tensors, relative to the largest value. */
async function differenceOf(found: TensorEntry, expected: TensorEntry): Promise<number> {
  assert.deepEqual(found.shape, expected.shape)
  const [own, values] = [await readTensorFloat32(found), await readTensorFloat32(expected)]
  return largest(own.map((value, i) => value - (values[i] as number))) / largest(values)
}

/** The tensors of a model, with the parts of those fused matrices that are separate in a file. */
async function asIn(found: TensorMap, {tensors, readConfig, config}: RunDirectory): Promise<TensorMap> {
  const {fused} = readDecoderSpec(await readConfig(), config, (name) => tensors.has(name))
  const separate = fused.filter(({name}) => !found.has(name))
  const all = withParts(tensors, separate)
  return new Map([...all].filter(([name]) => !separate.some((matrix) => matrix.name === name)))
}

/** What follows from the sizes in the format of llama.cpp. */
const impliedConfig: Partial<Record<TinyFamily, object>> = {
  gemma2: {query_pre_attn_scalar: 16},
  gemma3_text: {query_pre_attn_scalar: 16},
  qwen3_moe: {mlp_only_layers: []},
}

const gemma4 = 'Gemma 4 with inputs of its layers and shared keys'

/** Features that the metadata does not have, or that are not written yet. */
const refused: Readonly<Record<string, [model: Partial<TinyModel>, message: RegExp]>> = {
  [gemma4]: [tinyFamilies[gemma4] ?? {}, /inputs of layers that depend on the tokens/],
  'Gemma 2 with another scale': [
    tinyFamilies['Gemma 2 with limits and a window of 30'] ?? {},
    /has layers\.0\.attention\.scale 0\.2041\d+, which GGUF files cannot express/,
  ],
  'Qwen3-MoE with a plain layer': [
    tinyFamilies['Qwen3-MoE with a plain layer'] ?? {},
    /has layers\.1\.mlp\.\w+.*, which GGUF files cannot express/,
  ],
  'Qwen3.5 with attention in layers without a period': [
    {...tinyFamilies['Qwen3.5 with Gated DeltaNet'], layers: 4},
    /has attention in the layers 1 only, which GGUF files cannot express/,
  ],
}

describe('a merge into a GGUF file', () => {
  for (const [name, changes] of Object.entries(tinyFamilies).filter(([each]) => each !== gemma4))
    it(`has the weights and the configuration of ${name}`, async (test) => {
      const folder = await temporaryFolder(test)
      const model = {...changes, config: {...changes.config, ...impliedConfig[changes.family ?? 'llama']}}
      await writeRun(join(folder, 'run'), model)
      const {merged, found, expected} = await mergeBoth(folder, {dtype: 'F32'})
      assert.deepEqual(merged.dtypes, ['F32'])
      const isIgnored = model.window && (model.family === 'mistral' || model.family === 'phi3')
      assert.match(
        merged.warnings.join(),
        isIgnored ? /^llama\.cpp ignores the attention window in this file, 50 tokens/ : /^$/,
      )
      const tensors = await asIn(found.tensors, expected)
      assert.deepEqual([...found.tensors.keys()].sort(), [...tensors.keys()].sort())
      for (const [tensor, entry] of tensors) {
        const own = found.tensors.get(tensor) as TensorEntry
        // The weights of norms that are stored plus 1, and rates instead of their logarithms, are rounded.
        const isRounded = own.surplus !== undefined || own.isNegativeExp === true
        assert.ok((await differenceOf(own, entry)) <= (isRounded ? 2 ** -18 : 0), tensor)
      }
      const spec = readDecoderSpec(await found.readConfig(), found.config, (each) => found.tensors.has(each))
      assert.equal(spec.family, model.family ?? 'llama')
      assert.equal(spec.layers[0]?.attention?.window, model.window ?? undefined)
    })

  for (const [name, [model, message]] of Object.entries(refused))
    it(`refuses ${name}, and leaves nothing`, async (test) => {
      const folder = await temporaryFolder(test)
      await writeRun(join(folder, 'run'), model)
      const source = {run: join(folder, 'run'), cwd: folder}
      const request = {...choices, source, output: 'merged.gguf', gguf: describeGguf()}
      await assert.rejects(mergeAdapter(request), {code: 'gguf_inexpressible', message})
      await assert.rejects(readFile(join(folder, 'merged.gguf')), {code: 'ENOENT'})
    })

  it('has only the language model of a checkpoint with layers that predict further tokens', async (test) => {
    const folder = await temporaryFolder(test)
    await writeRun(join(folder, 'run'), {})
    const index = join(folder, 'run', 'model.safetensors.index.json')
    const {weight_map: map} = JSON.parse(await readFile(index, 'utf8'))
    const extra = {'mtp.fc.weight': {dtype: 'F32', shape: [2, 2], data: new Uint8Array(16)}}
    await writeFiles(join(folder, 'run'), {
      'extra.safetensors': safetensorsFile(extra),
      'model.safetensors.index.json': JSON.stringify({weight_map: {...map, 'mtp.fc.weight': 'extra.safetensors'}}),
    })
    const {merged, found} = await mergeBoth(folder)
    assert.deepEqual([...found.tensors.keys()].sort(), Object.keys(map).sort())
    assert.deepEqual(merged.warnings, [
      'The file has only the language model, without 1 tensor, such as mtp.fc.weight.',
    ])
  })

  it('has the divisors of the scaling of Llama 3', async (test) => {
    const folder = await temporaryFolder(test)
    const scaling = {rope_type: 'llama3', factor: 8, low_freq_factor: 1, high_freq_factor: 4}
    const model = {ropeScaling: {...scaling, original_max_position_embeddings: 64}} as const
    await writeRun(join(folder, 'run'), model)
    const {found} = await mergeBoth(folder)
    const spec = readDecoderSpec(await found.readConfig(), found.config, (each) => found.tensors.has(each))
    const scalingOf = spec.layers[0]?.attention?.rope?.scaling
    assert.equal(scalingOf?.kind, 'divided')
    assert.equal(scalingOf?.divisors[0], 1)
    assert.equal(scalingOf?.divisors.at(-1), 8)
  })

  it('has the tokenizer, the template and the sampling of the run', async (test) => {
    const folder = await temporaryFolder(test)
    await writeRun(
      join(folder, 'run'),
      {},
      {
        'tokenizer_config.json': JSON.stringify({bos_token: '<s>', eos_token: '@', chat_template: '{{ messages }}'}),
        'generation_config.json': JSON.stringify({temperature: 0.5, top_k: 7, eos_token_id: [64, 65]}),
      },
    )
    const {found, expected} = await mergeBoth(folder)
    assert.deepEqual(found.declarations.generation, {temperature: 0.5, top_k: 7, eos_token_id: [64, 65]})
    assert.equal(found.declarations.template?.declared, '{{ messages }}')
    assert.deepEqual(found.defaults.parameters, expected.defaults.parameters)
    const [own, other] = await Promise.all(
      [found, expected].map(async ({readTokenizer, declarations: {tokenizer: settings}}) =>
        createTokenizer(await readTokenizer(), settings, 'tokenizer'),
      ),
    )
    for (const text of ['Hello, world', ' é日\n', '<s>x'])
      assert.deepEqual(own?.encode(text, {special: true}), other?.encode(text, {special: true}))
  })

  it('rounds matrices to blocks with the dtype q8_0', async (test) => {
    const folder = await temporaryFolder(test)
    await writeRun(join(folder, 'run'), {hiddenSize: 64, intermediateSize: 80})
    const {merged, found, expected} = await mergeBoth(folder, {dtype: 'Q8_0'})
    // Rows of 80 weights are not complete blocks.
    assert.deepEqual(merged.dtypes, ['F16', 'F32', 'Q8_0'])
    assert.equal(found.tensors.get('model.layers.0.mlp.down_proj.weight')?.dtype, 'F16')
    for (const [tensor, entry] of expected.tensors) {
      const own = found.tensors.get(tensor) as TensorEntry
      const most = {F32: 0, F16: 2 ** -11, Q8_0: 1 / 250}[own.dtype] as number
      assert.ok((await differenceOf(own, entry)) <= most, `${tensor} ${own.dtype}`)
    }
  })

  describe('of a base in a GGUF file', () => {
    const folder = suiteFolder()
    const model = {hiddenSize: 256, intermediateSize: 256, layers: 1}
    before(async () => {
      await writeFiles(join(folder, 'base'), tinyModelFiles(model))
      await writeFiles(join(folder, 'run'), {
        ...tinyAdapterFiles(model, {head: false}),
        'tokenizer_config.json': JSON.stringify({chat_template: '{{ own }}'}),
      })
      await writeGguf(join(folder, 'base.gguf'), join(folder, 'base'), {
        type: 'Q4_K',
        metadata: {'general.alignment': {u32: 64}, 'tokenizer.chat_template': {text: '{{ base }}'}},
      })
    })

    it('keeps the blocks of tensors that do not change, and the metadata', async () => {
      const source = {run: join(folder, 'run'), base: join(folder, 'base.gguf'), cwd: folder}
      const output = join(folder, 'out', 'merged.gguf')
      const merged = await mergeAdapter({...choices, source, output, gguf: describeGguf()})
      assert.deepEqual(merged.dtypes, ['F16', 'F32', 'Q4_K'])
      assert.deepEqual(merged.warnings, [])
      const [base, found] = [await openRunDirectory(join(folder, 'base.gguf')), await openRunDirectory(output)]
      assert.deepEqual(await found.readConfig(), await base.readConfig())
      assert.deepEqual(await found.readTokenizer(), await base.readTokenizer())
      assert.equal(found.declarations.template?.declared, '{{ own }}')
      const bytesOf = async ({file, offset, length}: TensorEntry) =>
        (await readFile(file)).subarray(offset, offset + length)
      const overlay = join(folder, 'merged.safetensors')
      await mergeAdapter({...choices, source, output: overlay, dtype: 'F32'})
      const changes = await readTensorMap(overlay)
      for (const [tensor, entry] of base.tensors) {
        const own = found.tensors.get(tensor) as TensorEntry
        const change = changes.get(tensor)
        if (change === undefined) assert.ok((await bytesOf(own)).equals(await bytesOf(entry)), tensor)
        else assert.ok((await differenceOf(own, change)) <= 2 ** -11, tensor)
      }
      assert.equal(found.tensors.get('model.embed_tokens.weight')?.dtype, 'Q4_K')
      assert.equal(found.tensors.get('model.layers.0.self_attn.q_proj.weight')?.dtype, 'F16')
      const handoff = JSON.parse(await readFile(merged.handoff ?? '', 'utf8'))
      assert.deepEqual([handoff.backend_family, handoff.tokenizer_source], ['ollama', output])
    })

    it('updates the parts of a matrix of Granite 4 that is one only in transformers', async (test) => {
      const own = await temporaryFolder(test)
      const hybrid = {family: 'granitemoehybrid', layers: 1, layout: 'single', tied: true} as const
      const run = {...tinyModelFiles(hybrid), ...tinyAdapterFiles(hybrid, {head: false})}
      await writeFiles(join(own, 'base'), tinyModelFiles(hybrid))
      await writeFiles(join(own, 'run'), run)
      await writeGguf(join(own, 'base.gguf'), join(own, 'base'), {type: 'F32'})
      const mergedInto = async (base: string) => {
        const output = join(own, `${base}.safetensors`)
        const source = {run: join(own, 'run'), base: join(own, base), cwd: own}
        await mergeAdapter({...choices, source, output, dtype: 'F32'})
        const tensors = await readTensorMap(output)
        return (name: string) =>
          readTensorFloat32(tensors.get(`model.layers.0.shared_mlp.${name}.weight`) as TensorEntry)
      }
      const [whole, parts] = [await mergedInto('base'), await mergedInto('base.gguf')]
      const expected = await whole('input_linear')
      assert.deepEqual(Float32Array.of(...(await parts('gate_proj')), ...(await parts('up_proj'))), expected)
    })
  })

  const refusedTokenizers: Readonly<Record<string, [change: object, feature: RegExp]>> = {
    'a tokenizer without merges': [{model: {type: 'Unigram', vocab: []}}, /the tokenizer model Unigram/],
    'words that have no name': [{pre_tokenizer: {type: 'Whitespace'}}, /a pre-tokenizer or normalizer of its own/],
    'more tokens than rows of the embedding': [
      {added_tokens: [{id: 300, content: '<more>', special: true}]},
      /301 tokens for an embedding of 257 rows/,
    ],
  }
  for (const [what, [change, message]] of Object.entries(refusedTokenizers))
    it(`refuses ${what}`, async (test) => {
      const folder = await temporaryFolder(test)
      await writeRun(join(folder, 'run'), {}, {'tokenizer.json': JSON.stringify({...tokenizer, ...change})})
      const source = {run: join(folder, 'run'), cwd: folder}
      const request = {...choices, source, output: 'merged.gguf', gguf: describeGguf()}
      await assert.rejects(mergeAdapter(request), {code: 'gguf_inexpressible', message})
    })

  it('has the tokens of a vocabulary of pieces', {skip: skipWithout('stories260K')}, async (test) => {
    const folder = await temporaryFolder(test)
    const base = sharedData('stories260K') ?? ''
    const config = JSON.parse(await readFile(join(base, 'config.json'), 'utf8'))
    const [hiddenSize, layers] = [config.hidden_size, config.num_hidden_layers]
    const sizes = {headDim: hiddenSize / config.num_attention_heads, heads: config.num_attention_heads}
    const others = {kvHeads: config.num_key_value_heads, intermediateSize: config.intermediate_size}
    const model = {hiddenSize, layers, vocabSize: config.vocab_size, ...sizes, ...others}
    await writeFiles(join(folder, 'run'), tinyAdapterFiles(model, {form: 'peft', head: false}))
    const source = {run: join(folder, 'run'), base, cwd: folder}
    const output = join(folder, 'stories.gguf')
    await mergeAdapter({...choices, source, output, gguf: describeGguf()})
    const [own, other] = await Promise.all(
      [output, base].map(async (path) => {
        const {readTokenizer, declarations} = await openRunDirectory(path)
        return createTokenizer(await readTokenizer(), declarations.tokenizer, path)
      }),
    )
    for (const text of ['Once upon a time', '  two  spaces ', 'Ünïcödé 猫\n\t', '<s> </s><unk>', ''])
      assert.deepEqual(own?.encode(text, {special: true}), other?.encode(text, {special: true}), text)
  })
})
