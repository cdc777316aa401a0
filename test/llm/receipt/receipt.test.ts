import assert from 'node:assert/strict'
import {cp, readdir, readFile, rename, utimes, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {readDecoderSpec} from '../../../src/llm/families/index.js'
import {type GenerateRequest, ModelIdentity, Receipt} from '../../../src/llm/index.js'
import type {LoadOptions} from '../../../src/llm/load-options.js'
import {readModelFiles} from '../../../src/llm/model-files.js'
import type {Precision} from '../../../src/llm/precision.js'
import {type ComputeChoices, provenShapeOf, provenShapes} from '../../../src/llm/receipt/same-bytes.js'
import {defaultSampling} from '../../../src/sampling/index.js'
import {FileDigests, pruneCache} from '../../../src/weights/index.js'
import {temporaryFolder, writeFiles} from '../../support/temporary.js'
import {tinyAdapterFiles, tinyModelFiles} from '../../support/tiny-model.js'

const request: GenerateRequest = {
  prompt: {kind: 'chat', messages: [{role: 'user', content: 'What is the password?'}], overflow: 'refuse'},
  maxTokens: 8,
  stop: ['END'],
  sampling: {...defaultSampling, seed: 7},
}

async function identityOf(folder: string, options: Partial<LoadOptions> = {}, defaults = {}): Promise<ModelIdentity> {
  const {
    description: {sources},
  } = await readModelFiles(folder, {threads: 1, numCtx: 0, ...options})
  return ModelIdentity.of(sources, defaults, new FileDigests(undefined))
}

const shapeOf = (name: string) => provenShapes.find((each) => each.name === name)?.shape ?? []

const run = async (test: TestContext) => {
  const folder = await temporaryFolder(test)
  await writeFiles(folder, {...tinyModelFiles({layout: 'single'}), ...tinyAdapterFiles()})
  return folder
}

/** Changes the last byte of a file. */
async function damage(file: string): Promise<void> {
  const bytes = await readFile(file)
  bytes[bytes.length - 1] = (bytes.at(-1) as number) ^ 1
  await writeFile(file, bytes)
}

const edit = async (file: string, change: (json: Record<string, unknown>) => unknown) =>
  writeFile(file, JSON.stringify(change(JSON.parse(await readFile(file, 'utf8')))))

/** One change of each kind of input, and the only parts that may differ then. */
const changes: readonly [name: string, parts: readonly string[], change: (folder: string) => Promise<unknown>][] = [
  ['a byte of the base weights', ['base'], (folder) => damage(join(folder, 'model.safetensors'))],
  [
    'the configuration',
    ['base'],
    (folder) => edit(join(folder, 'config.json'), (json) => ({...json, rope_theta: 9e3})),
  ],
  [
    'the rules of replies',
    ['base'],
    (folder) => writeFiles(folder, {'generation_config.json': '{"suppress_tokens": [7]}'}),
  ],
  ['a byte of the adapter', ['adapter'], (folder) => damage(join(folder, 'candle_qlora_adapter.safetensors'))],
  [
    'the alpha of the adapter',
    ['adapter'],
    (folder) => edit(join(folder, 'adapter_manifest.json'), (json) => ({...json, alpha: 4})),
  ],
  ['the template', ['template'], (folder) => writeFiles(folder, {'chat_template.jinja': '{{ messages[0].content }}'})],
  [
    'the tokenizer',
    ['tokenizer'],
    (folder) => edit(join(folder, 'tokenizer.json'), (json) => ({...json, version: '1.1'})),
  ],
  [
    'a special token',
    ['tokenizer'],
    (folder) => edit(join(folder, 'tokenizer_config.json'), (json) => ({...json, eos_token: '<s>'})),
  ],
]

const requestChanges: readonly [name: string, part: string, Partial<GenerateRequest>][] = [
  ['temperature', 'sampling', {sampling: {...request.sampling, temperature: 0}}],
  ['logit bias', 'sampling', {sampling: {...request.sampling, logitBias: {7: 1}}}],
  ['maximum tokens', 'sampling', {maxTokens: 9}],
  ['stop strings', 'sampling', {stop: []}],
  ['order of the properties of a format', 'sampling', {format: {kind: 'schema', schema: {b: 1, a: 1}}}],
  ['seed', 'seed', {sampling: {...request.sampling, seed: 8}}],
  ['adapter', 'adapter', {adapter: false}],
]

const differing = (one: Receipt, other: Receipt) =>
  Object.entries(one.parts).flatMap(([part, value]) => (other.parts[part as 'seed'] === value ? [] : [part]))

describe('a receipt', () => {
  it('is stable: not changed by the place, the times and the names of files', async (test) => {
    const folder = await run(test)
    const before = (await identityOf(folder)).receiptOf(request, 512)
    const copy = join(await temporaryFolder(test), 'copy')
    await cp(folder, copy, {recursive: true})
    await utimes(join(copy, 'model.safetensors'), 1, 1)
    await rename(join(copy, 'model.safetensors'), join(copy, 'model-00001-of-00001.safetensors'))
    assert.equal(String((await identityOf(copy)).receiptOf(request, 512)), String(before))
    assert.deepEqual(Receipt.parse(String(before)), before)
  })

  for (const [name, parts, change] of changes)
    it(`differs in ${parts.join(', ')} if a change affects ${name}`, async (test) => {
      const folder = await run(test)
      const before = await identityOf(folder)
      await change(folder)
      assert.deepEqual(
        differing(before.receiptOf(request, 512), (await identityOf(folder)).receiptOf(request, 512)),
        parts,
      )
    })

  it('differs in the part of each choice of the server', async (test) => {
    const folder = await run(test)
    const usual = (await identityOf(folder)).receiptOf(request, 512)
    const template = join(folder, 'other.jinja')
    await writeFile(template, '{{ messages[0].content }}')
    const cases: [string, Partial<LoadOptions>, object][] = [
      ['precision', {precision: 'w8'}, {}],
      ['adapter', {baseOnly: true}, {}],
      ['template', {chatTemplate: template}, {}],
      ['template', {}, {system: 'Be kind.'}],
    ]
    for (const [part, options, defaults] of cases)
      assert.deepEqual(differing(usual, (await identityOf(folder, options, defaults)).receiptOf(request, 512)), [part])
  })

  it('differs in the part of each field of the request, except for the prompt', async (test) => {
    const identity = await identityOf(await run(test))
    const usual = identity.receiptOf(request, 512)
    for (const [name, part, change] of requestChanges)
      assert.deepEqual(differing(usual, identity.receiptOf({...request, ...change}, 512)), [part], name)
    const schema = (of: object) => identity.receiptOf({...request, format: {kind: 'schema', schema: of}}, 512)
    assert.deepEqual(differing(schema({a: 1, b: 1}), schema({b: 1, a: 1})), ['sampling'])
    assert.deepEqual(differing(usual, identity.receiptOf(request, 256)), ['sampling'])
    const other = identity.receiptOf({...request, prompt: {kind: 'raw', text: 'x'}, echo: true, topLogprobs: 2}, 512)
    assert.equal(String(other), String(usual))
  })

  it('claims equal bytes only for what was compared', () => {
    const [hidden, intermediate, heads, keyHeads, size, vocabulary] = shapeOf('0.5B')
    const config = {
      model_type: 'qwen2',
      hidden_size: hidden,
      intermediate_size: intermediate,
      num_attention_heads: heads,
      num_key_value_heads: keyHeads,
      head_dim: size,
      vocab_size: vocabulary,
      num_hidden_layers: 2,
      tie_word_embeddings: true,
    }
    const spec = readDecoderSpec(config, 'config.json', () => true)
    const plain = {promptLookup: false, savesPrefixes: false}
    const usual = {promptLookup: true, savesPrefixes: true}
    const cases: [Precision, ComputeChoices, boolean][] = [
      ['f32', usual, true],
      ['w8', plain, true],
      ['w8', {...plain, promptLookup: true}, false],
      ['w8', {...plain, savesPrefixes: true}, false],
      ['w4', plain, false],
      ['w4', usual, false],
    ]
    for (const [precision, choices, isClaimed] of cases) {
      assert.equal(provenShapeOf(spec, precision, choices) !== undefined, isClaimed, precision)
      const other = {...spec, vocabSize: spec.vocabSize + 1}
      assert.equal(provenShapeOf(other, precision, choices), undefined, 'another shape')
    }
  })

  it('names the part that is missing or damaged', async (test) => {
    const text = String((await identityOf(await run(test))).receiptOf(request, 512))
    const refused: [string, RegExp][] = [
      [text.replace('svc1:', 'svc2:'), /does not start with svc1:/],
      [text.replace(/,seed=7$/, ''), /part seed/],
      [text.replace(/tokenizer=./, 'tokenizer=x'), /part tokenizer/],
      [text.slice(0, 60), /part adapter/],
      [`${text},more=1`, /more parts/],
      ['', /does not start/],
    ]
    for (const [damaged, reason] of refused)
      assert.throws(
        () => Receipt.parse(damaged),
        (error: Error) => reason.test(error.message),
        damaged,
      )
  })
})

describe('FileDigests', () => {
  it('keeps the digest of a file until its status changes', async (test) => {
    const folder = await temporaryFolder(test)
    const [file, cache] = [join(folder, 'weights'), join(folder, 'cache')]
    await writeFile(file, 'one')
    const later = () => Date.now() + 60_000
    const first = await new FileDigests(cache, later).of(file)
    const again = new FileDigests(cache, later)
    assert.equal(await again.of(file), first)
    const [kept = ''] = await readdir(join(cache, 'digests'))
    await writeFile(join(cache, 'digests', kept), 'f'.repeat(64))
    assert.equal(await new FileDigests(cache).of(file), 'f'.repeat(64))
    await writeFile(file, 'two')
    await utimes(file, 1, 1)
    const second = await again.of(file)
    assert.notEqual(second, first)
    await writeFile(file, 'one')
    await utimes(file, 1, 1)
    assert.equal(await again.of(file), first)
    await assert.rejects(again.of(join(folder, 'none')), {code: 'file_not_found'})
    await pruneCache(cache, {olderThanMs: 0, dryRun: false, now: later()})
    assert.deepEqual(await readdir(join(cache, 'digests')), [])
  })

  it('reads a large file in another thread', async (test) => {
    const file = join(await temporaryFolder(test), 'large')
    await writeFile(file, Buffer.alloc(5 << 20))
    const expected = 'c036cbb7553a909f8b8877d4461924307f27ecb66cff928eeeafd569c3887e29'
    assert.equal(await new FileDigests(undefined).of(file), expected)
  })
})
