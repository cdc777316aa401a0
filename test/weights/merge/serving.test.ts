import assert from 'node:assert/strict'
import {cp, rm} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {openDecoder} from '../../../src/llm/decoder.js'
import {readDecoderSpec} from '../../../src/llm/families/index.js'
import {type MergeRequest, mergeAdapter, openRunDirectory, readJsonObject} from '../../../src/weights/index.js'
import {temporaryFolder, writeFiles} from '../../support/temporary.js'
import {tinyFamilies} from '../../support/tiny-families.js'
import {
  type TinyAdapter,
  type TinyModel,
  tinyAdapterFiles,
  tinyModelFiles,
  writeTinyModel,
} from '../../support/tiny-model.js'

const tokens = Array.from({length: 40}, (_, i) => (i * 73 + 11) % 257)

/** Logits of every position of the served model. */
async function logitsOf(test: TestContext, folder: string): Promise<Float32Array> {
  const {config, tensors, adapter, untied} = await openRunDirectory(folder)
  const json = {...(await readJsonObject(config)), ...(untied ? {tie_word_embeddings: false} : {})}
  const spec = readDecoderSpec(json, config, (name) => tensors.has(name))
  const decoder = await openDecoder(spec, tensors, {contextLength: 64, threads: 1, adapters: adapter !== undefined})
  test.after(() => decoder.release())
  const cache = decoder.newCache()
  const own = adapter && (await decoder.adapters?.load(adapter))
  const predictions = await decoder.prefill(cache, cache.add(), tokens, {predict: 'all', adapter: own})
  return Float32Array.from(predictions.flatMap(({logits}) => [...logits]))
}

const furthest = (a: Float32Array, b: Float32Array) => Math.max(...a.map((value, i) => Math.abs(value - b[i]!)))

const cases: readonly [string, Partial<TinyModel>, Partial<TinyAdapter>, boolean][] = [
  ['Llama', {}, {}, false],
  ['Llama in one file with a PEFT adapter', {layout: 'single'}, {form: 'peft-rs'}, false],
  ...Object.entries(tinyFamilies).map(
    ([name, changes]) => [name, changes, {form: 'peft', head: false}, false] as (typeof cases)[number],
  ),
  ['parts of fused projections', {family: 'phi3', seed: 26}, {form: 'peft', parts: true, head: false}, false],
  ['a tied head that the adapter does not update', {tied: true}, {head: false}, false],
  ['a tied head with --untie', {tied: true, layout: 'single'}, {}, true],
  ['a tied head with --untie and a PEFT adapter', {tied: true}, {form: 'peft'}, true],
]

describe('a merged model has the logits of base and adapter', () => {
  for (const [name, model, adapter, untie] of cases)
    for (const full of [false, true])
      it(`${name}, ${full ? 'as a complete model' : 'over its base model'}`, async (test) => {
        const folder = await temporaryFolder(test)
        const run = join(folder, 'run')
        const files = {...tinyModelFiles(model), ...tinyAdapterFiles(model, adapter)}
        await writeFiles(run, files)
        const source = {run, ignoreEvalGate: false, cwd: folder}
        const output = full ? 'merged' : 'run/merged.safetensors'
        const request: MergeRequest = {source, output, full, dtype: undefined, untie, overwrite: false}
        const apart = await logitsOf(test, run)
        const {warnings} = await mergeAdapter(request)
        const merged = await logitsOf(test, full ? join(folder, 'merged') : run)
        const {adapter: applied} = await openRunDirectory(full ? join(folder, 'merged') : run)
        assert.equal(applied, undefined, 'the adapter is not applied twice')
        const difference = furthest(apart, merged)
        assert.ok(difference < 1e-4, `largest difference ${difference}`)
        const redirected = !model.tied && adapter.form === undefined && adapter.head === undefined
        assert.equal(warnings.length, redirected ? 1 : 0)
        assert.match(warnings.join(), redirected ? /is merged into lm_head\.weight/ : /^$/)
      })

  it('except with a tied head, with a warning', async (test) => {
    const folder = await temporaryFolder(test)
    const run = join(folder, 'run')
    await writeTinyModel(run, {tied: true})
    await writeFiles(run, tinyAdapterFiles({tied: true}))
    const source = {run, ignoreEvalGate: false, cwd: folder}
    const {warnings} = await mergeAdapter({
      source,
      output: 'merged',
      full: true,
      dtype: undefined,
      untie: false,
      overwrite: false,
    })
    assert.equal(warnings.length, 1)
    assert.match(warnings[0] ?? '', /is both output head and embedding, and both change; --untie/)
    assert.ok(furthest(await logitsOf(test, run), await logitsOf(test, join(folder, 'merged'))) > 1e-2)
  })

  it('and a run is unchanged after its overlay is removed', async (test) => {
    const folder = await temporaryFolder(test)
    const run = join(folder, 'run')
    await writeFiles(run, {
      ...tinyModelFiles({tied: true, layout: 'single'}),
      ...tinyAdapterFiles({tied: true}),
    })
    await cp(run, join(folder, 'copy'), {recursive: true})
    const source = {run, ignoreEvalGate: false, cwd: folder}
    const overlay = join(run, 'merged.safetensors')
    await mergeAdapter({source, output: overlay, full: false, dtype: undefined, untie: true, overwrite: false})
    await rm(overlay)
    assert.equal(furthest(await logitsOf(test, run), await logitsOf(test, join(folder, 'copy'))), 0)
  })
})
