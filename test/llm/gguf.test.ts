import assert from 'node:assert/strict'
import {readFile} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {openDecoder} from '../../src/llm/decoder.js'
import {readDecoderSpec} from '../../src/llm/families/index.js'
import {type Precision, withQuantised} from '../../src/llm/precision.js'
import {defaultSampling} from '../../src/sampling/index.js'
import {
  elements,
  mergeAdapter,
  openRunDirectory,
  readTensorFloat32,
  type TensorEntry,
  type TensorMap,
  writeSafetensors,
} from '../../src/weights/index.js'
import {type GgufModelOptions, type GgufTypeName, writeGguf} from '../support/gguf-model.js'
import {stories, tokensOf} from '../support/perplexity.js'
import {sharedData, skipWithout} from '../support/project.js'
import {temporaryFolder, writeFiles} from '../support/temporary.js'
import {type TinyModel, tinyAdapterFiles, writeTinyModel} from '../support/tiny-model.js'
import {loadModel} from './load-model.js'

const tokens = Array.from({length: 40}, (_, i) => (i * 73 + 11) % 256)

/** Logits after each token. */
async function logitsOf(test: TestContext, path: string, precision: Precision, cache: string, base?: string) {
  const {config, readConfig, tensors, adapter} = await openRunDirectory(path, {base})
  const spec = readDecoderSpec(await readConfig(), config, (name) => tensors.has(name))
  const weights = await withQuantised(spec, tensors, precision, {folder: cache, model: path, threads: 1})
  const decoder = await openDecoder(spec, weights, {contextLength: 64, threads: 1, adapters: adapter !== undefined})
  test.after(() => decoder.release())
  const kv = decoder.newCache()
  const own = adapter && (await decoder.adapters?.load(adapter))
  const predictions = await decoder.prefill(kv, kv.add(), tokens, {predict: 'all', adapter: own})
  return Float32Array.from(predictions.flatMap(({logits}) => [...logits]))
}

/** Root of the mean square of the differences, relative to that of the values. */
function errorOf(found: Float32Array, expected: Float32Array): number {
  const square = (values: Float32Array) => values.reduce((sum, value) => sum + value * value, 0)
  return Math.sqrt(square(found.map((value, i) => value - (expected[i] as number))) / square(expected))
}

/** What the runtime makes of a copy: integers times scales, plus offsets if there are any. */
async function weightsOf(copies: TensorMap, name: string, bits: 4 | 8, count: number): Promise<Float32Array> {
  const entry = copies.get(name) as TensorEntry
  const bytes = (await readFile(entry.file)).subarray(entry.offset, entry.offset + entry.length)
  const scales = await readTensorFloat32(copies.get(`${name}_scale`) as TensorEntry)
  const offsetEntry = copies.get(`${name}_offset`)
  const offsets = offsetEntry && (await readTensorFloat32(offsetEntry))
  const integer = (i: number) =>
    bits === 8 ? (bytes[i] as number) - 128 : (((bytes[i >> 1] as number) >> (4 * (i & 1))) & 15) - 8
  const group = count / scales.length
  return new Float32Array(count).map((_, i) => {
    const at = Math.floor(i / group)
    return integer(i) * (scales[at] as number) + (offsets?.[at] ?? 0)
  })
}

/** A GGUF file, and the same weights as 32-bit floats in safetensors files. */
async function both(test: TestContext, changes: Partial<TinyModel>, options: GgufModelOptions) {
  const folder = await temporaryFolder(test)
  await writeTinyModel(folder, {layout: 'single', hiddenSize: 256, intermediateSize: 256, layers: 1, ...changes})
  const file = join(folder, 'a.gguf')
  await writeGguf(file, folder, options)
  const {tensors} = await openRunDirectory(file)
  const floats = [...tensors.values()].map((entry) => ({
    name: entry.name,
    dtype: 'F32',
    shape: entry.shape,
    length: 4 * elements(entry.shape),
    data: async () => new Uint8Array((await readTensorFloat32(entry)).buffer),
  }))
  await writeSafetensors(join(folder, 'model.safetensors'), floats)
  return {folder, file, cache: await temporaryFolder(test)}
}

/** Types with and without offsets, of 4 and of other bits, in groups of 32 and of 16. */
const types: readonly [GgufTypeName, Partial<TinyModel>][] = [
  ['Q8_0', {}],
  ['Q4_0', {family: 'qwen2', tied: true}],
  ['Q4_1', {tied: true}],
  ['Q5_1', {family: 'qwen3'}],
  ['Q4_K', {}],
  ['Q6_K', {tied: true}],
  ['Q2_K', {}],
  ['Q4_1', {family: 'qwen3_moe', config: {moe_intermediate_size: 256}}],
  ['Q6_K', {family: 'phi3'}],
]

describe('a model in a GGUF file', () => {
  for (const [type, changes] of types)
    it(`of the type ${type}${changes.family ? ` (${changes.family})` : ''} computes the same as its weights in 32-bit floats`, async (test) => {
      const {folder, file, cache} = await both(test, changes, {type})
      const expected = await logitsOf(test, folder, 'f32', cache)
      assert.ok(errorOf(await logitsOf(test, file, 'f32', cache), expected) < 2e-6)
      // The inputs of products are rounded to 8 bits; for w8, also the weights again.
      for (const precision of ['w4', 'w8'] as const) {
        const error = errorOf(await logitsOf(test, file, precision, cache), expected)
        assert.ok(error > 1e-4 && error < 0.2, `${precision} ${error}`)
      }
    })

  for (const [type, kind] of [
    ['Q8_0', 'blocks'],
    ['Q4_0', 'nibbles'],
    ['Q4_1', 'nibbles'],
    ['Q4_K', 'nibbles'],
    ['Q5_K', 'blocks'],
    ['Q6_K', 'blocks'],
    ['IQ4_XS', 'blocks'],
    ['MXFP4', 'blocks'],
  ] as const)
    it(`of the type ${type} is not rounded again for w4`, async (test) => {
      const folder = await temporaryFolder(test)
      await writeTinyModel(folder, {layout: 'single', hiddenSize: 256, intermediateSize: 256, layers: 1})
      const file = join(folder, 'a.gguf')
      await writeGguf(file, folder, {type})
      const {config, readConfig, tensors} = await openRunDirectory(file)
      const spec = readDecoderSpec(await readConfig(), config, (name) => tensors.has(name))
      const cache = join(folder, 'cache')
      const copies = await withQuantised(spec, tensors, 'w4', {folder: cache, model: file, threads: 1})
      const {q, down} = {q: 'model.layers.0.self_attn.q_proj.weight', down: 'model.layers.0.mlp.down_proj.weight'}
      for (const name of [q, down]) {
        const expected = await readTensorFloat32(tensors.get(name) as TensorEntry)
        const found = await weightsOf(copies, `${name}.${kind}`, kind === 'nibbles' ? 4 : 8, expected.length)
        const most = expected.reduce((largest, value) => Math.max(largest, Math.abs(value)), 0)
        for (const [i, value] of expected.entries())
          assert.ok(Math.abs(value - (found[i] as number)) <= 1e-6 * most, `${name} ${i}`)
      }
    })

  it('has the adapter of a run directory', async (test) => {
    const changes = {hiddenSize: 256, intermediateSize: 256, layers: 1}
    const {folder, file, cache} = await both(test, changes, {type: 'Q8_0'})
    const run = await temporaryFolder(test)
    await writeFiles(run, tinyAdapterFiles(changes, {}))
    const expected = await logitsOf(test, run, 'f32', cache, folder)
    assert.ok(errorOf(await logitsOf(test, run, 'f32', cache, file), expected) < 2e-6)
    assert.ok(errorOf(await logitsOf(test, file, 'f32', cache), expected) > 0.05)
  })

  for (const [what, full] of [
    ['as a complete model', true],
    ['over the GGUF file', false],
  ] as const)
    it(`is merged with an adapter, ${what}`, async (test) => {
      const changes = {hiddenSize: 256, intermediateSize: 256, layers: 1}
      const {file, cache} = await both(test, changes, {type: 'Q8_0'})
      const run = await temporaryFolder(test)
      await writeFiles(run, tinyAdapterFiles(changes, {}))
      const expected = await logitsOf(test, run, 'f32', cache, file)
      const output = full ? join(run, 'whole') : join(run, 'merged.safetensors')
      const halves = {weight: 0.25, others: [{path: run, weight: 0.75}]}
      const source = {run, base: file, ignoreEvalGate: false, cwd: run, ...(full ? halves : {})}
      const merged = await mergeAdapter({source, output, full, dtype: undefined, untie: false, overwrite: false})
      assert.deepEqual(merged.dtypes, full ? ['F16', 'F32'] : ['F16'])
      const handoff = JSON.parse(await readFile(merged.handoff ?? '', 'utf8'))
      assert.equal(handoff.tokenizer_source, full ? join(output, 'tokenizer.json') : file)
      const found = full ? await logitsOf(test, output, 'f32', cache) : await logitsOf(test, run, 'f32', cache, file)
      // The merged weights are rounded to 16 bits.
      assert.ok(errorOf(found, expected) < 2e-3)
    })

  it('has the tokens and the text of the model stories260K', {skip: skipWithout('stories260K')}, async (test) => {
    const source = sharedData('stories260K') ?? ''
    const file = join(await temporaryFolder(test), 'stories.gguf')
    await writeGguf(file, source, {type: 'F32'})
    const [expected, found] = [await loadModel(test, source, {}), await loadModel(test, file, {})]
    const texts = [...stories, ' ', '  two  spaces ', 'Ünïcödé 猫 🐈 \u0000\n\t', '<s> </s><unk>', 'a'.repeat(70)]
    for (const text of texts) {
      assert.deepEqual(tokensOf(found, text), tokensOf(expected, text), text)
    }
    const summary = async (model: typeof found) => {
      let text = ''
      const prompt = {kind: 'raw', text: 'Once upon a time'} as const
      const sampling = {...defaultSampling, temperature: 0}
      for await (const event of model.generate({prompt, maxTokens: 300, stop: [], sampling}))
        if (event.type === 'text') text += event.text
      return text
    }
    const text = await summary(expected)
    assert.ok(text.length > 500)
    assert.equal(await summary(found), text)
  })
})
