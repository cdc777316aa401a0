import assert from 'node:assert/strict'
import {describe, it, type TestContext} from 'node:test'
import {isErrorOf} from '../../src/errors/index.js'
import type {PooledAdapter} from '../../src/llm/adapters/adapter-pool.js'
import {type Decoder, openDecoder} from '../../src/llm/decoder.js'
import {readDecoderSpec} from '../../src/llm/families/index.js'
import {logSumExp} from '../../src/sampling/index.js'
import {mostLikely} from '../../src/sampling/most-likely.js'
import {openRunDirectory, readJsonObject, readTensorFloat32} from '../../src/weights/index.js'
import {
  ReferenceDecoder,
  type ReferenceDelta,
  type Rope,
  rotateHalves,
  rotateSwappedHalves,
} from '../reference/decoder.js'
import {temporaryFolder, writeFiles} from '../support/temporary.js'
import {tinyFamilies} from '../support/tiny-families.js'
import {
  type TinyAdapter,
  type TinyModel,
  tinyAdapter,
  tinyAdapterFiles,
  tinyModel,
  writeTinyModel,
} from '../support/tiny-model.js'

const positions = 260
const tokens = Array.from({length: positions}, (_, i) => (i * 73 + 11) % tinyModel.vocabSize)

/** Run sizes: a long prefill, a second one with a past, then single tokens beyond position 256. */
const runs = [150, 90, ...Array.from({length: positions - 240}, () => 1)]
/** Run sizes that do not make the cache grow, and end beyond every window of the models. */
const fewRuns = [40, 20, ...Array.from({length: 12}, () => 1)]
/** Of these models, something changes in long runs: the cache, the rotary embedding, the parts of a recurrence. */
const isLong = /two shards|window from its second|dynamic|LongRoPE|growing|DeltaNet|Mamba/

interface Loaded {
  decoder: Decoder
  own: PooledAdapter | undefined
  reference: ReferenceDecoder
  /** The reference without the adapter. */
  base: ReferenceDecoder
}

async function load(
  test: TestContext,
  changes: Partial<TinyModel>,
  adapter?: Partial<TinyAdapter>,
  rope: Rope = rotateHalves,
): Promise<Loaded> {
  const folder = await temporaryFolder(test)
  await writeTinyModel(folder, changes)
  if (adapter !== undefined) await writeFiles(folder, tinyAdapterFiles(changes, adapter))
  const directory = await openRunDirectory(folder)
  const spec = readDecoderSpec(await readJsonObject(directory.config), directory.config, (name) =>
    directory.tensors.has(name),
  )
  const decoder = await openDecoder(spec, directory.tensors, {
    contextLength: spec.contextLength,
    threads: 1,
    adapters: adapter !== undefined,
  })
  test.after(() => decoder.release())
  const own = directory.adapter && (await decoder.adapters?.load(directory.adapter))
  const base = await ReferenceDecoder.load({...tinyModel, ...changes}, directory.tensors, rope)
  if (adapter === undefined) return {decoder, own, reference: base, base}
  const deltas = await referenceDeltas(directory, {...tinyAdapter, ...adapter})
  return {decoder, own, reference: base.with(deltas), base}
}

/** LoRA pairs by weight name; that of the head by `lm_head`, because it is applied only on the output side. */
async function referenceDeltas(
  {adapter}: Awaited<ReturnType<typeof openRunDirectory>>,
  {rank, alpha, form}: TinyAdapter,
): Promise<Map<string, ReferenceDelta>> {
  const scale = form === 'peft-rs' ? alpha / Math.sqrt(rank) : alpha / rank
  const deltas = new Map<string, ReferenceDelta>()
  for (const {target, a, b} of adapter?.deltas ?? []) {
    const name = /embed_tokens|lm_head/.test(target) ? 'lm_head' : target
    deltas.set(name, {a: await readTensorFloat32(a), b: await readTensorFloat32(b), rank, scale})
  }
  return deltas
}

async function engineLogits({decoder, own}: Loaded, sizes: readonly number[] = runs): Promise<Float32Array[]> {
  const cache = decoder.newCache()
  const slot = cache.add()
  const rows: Float32Array[] = []
  let at = 0
  for (const run of sizes) {
    const predictions = await decoder.prefill(cache, slot, tokens.slice(at, at + run), {
      predict: 'all',
      adapter: own,
    })
    rows.push(...predictions.map(({logits}) => logits))
    at += run
  }
  assert.equal(cache.length(slot), at)
  assert.equal(cache.capacity, at > 256 ? 512 : 256, 'the cache has grown by one bucket')
  return rows
}

function largestDifference(a: readonly Float32Array[], b: readonly Float32Array[]): number {
  assert.equal(a.length, b.length)
  let largest = 0
  for (const [i, row] of a.entries()) {
    const other = b[i] as Float32Array
    // A NaN difference stays NaN and fails the comparison.
    for (let j = 0; j < row.length; j++)
      largest = Math.max(largest, Math.abs((row[j] as number) - (other[j] as number)))
  }
  return largest
}

function assertEqual(actual: readonly Float32Array[], expected: readonly Float32Array[]): void {
  const difference = largestDifference(actual, expected)
  assert.ok(difference < 1e-4, `largest difference ${difference}`)
  const best = (row: Float32Array) => row.indexOf(row.reduce((most, value) => Math.max(most, value)))
  assert.deepEqual(actual.map(best), expected.map(best), 'token for token')
}

const models: Record<string, Partial<TinyModel>> = {
  'Llama in two shards with an index': {layout: 'indexed'},
  'Llama with a tied head in one file': {layout: 'single', tied: true, seed: 2},
  'one key/value head and another rope base': {kvHeads: 1, ropeTheta: 500_000, seed: 3},
  'a head dimension of 8, which no fused kernel supports': {headDim: 8, kvHeads: 4, seed: 4},
  'numbered shards in bfloat16': {layout: 'numbered', dtype: 'BF16', seed: 5},
  'half precision': {layout: 'single', dtype: 'F16', seed: 6},
  'Mistral without a window': {family: 'mistral', seed: 8},
  'Qwen2 with a window from its second layer on': {family: 'qwen2', window: 40, firstWindowed: 1, seed: 10},
  'LFM2 with biases and a kernel of 4 positions': {
    family: 'lfm2',
    config: {conv_bias: true, conv_L_cache: 4},
    seed: 25,
  },
  'a linearly scaled rope': {ropeScaling: {rope_type: 'linear', factor: 4}, seed: 12},
  'a rope scaled as Llama 3.1': {
    ropeScaling: {
      rope_type: 'llama3',
      factor: 8,
      low_freq_factor: 1,
      high_freq_factor: 4,
      original_max_position_embeddings: 64,
    },
    seed: 13,
  },
  'a rope with dynamic scaling': {contextLength: 128, ropeScaling: {rope_type: 'dynamic', factor: 4}, seed: 15},
  'a rope scaled by YaRN': {
    family: 'qwen2',
    ropeScaling: {rope_type: 'yarn', factor: 4, original_max_position_embeddings: 64},
    seed: 14,
  },
}

describe('logits of a randomly initialised model', () => {
  for (const [name, changes] of Object.entries({...models, ...tinyFamilies}))
    it(`match the reference: ${name}`, async (test) => {
      const model = await load(test, changes)
      const actual = await engineLogits(model, isLong.test(name) ? runs : fewRuns)
      assertEqual(actual, model.reference.logits(tokens.slice(0, actual.length)))
    })

  it('differ from a reference with swapped rotary halves', async (test) => {
    const model = await load(test, {}, undefined, rotateSwappedHalves)
    const actual = await engineLogits(model, fewRuns)
    const difference = largestDifference(actual, model.reference.logits(tokens.slice(0, actual.length)))
    assert.ok(difference > 1e-2, `largest difference ${difference}`)
  })

  it('of only the last position equal the last row of all logits', async (test) => {
    const {decoder} = await load(test, {})
    const predict = async (which: 'last' | 'all') => {
      const cache = decoder.newCache()
      const predictions = await decoder.prefill(cache, cache.add(), tokens.slice(0, 20), {predict: which})
      return predictions.map(({logits}) => logits)
    }
    const [all, last] = [await predict('all'), await predict('last')]
    assert.deepEqual([all.length, last.length], [20, 1])
    assert.ok(largestDifference(last, all.slice(-1)) < 1e-5)
  })
})

describe('the most likely tokens of a run', () => {
  it('are those of its logits, with their log-sum-exp', async (test) => {
    const {decoder} = await load(test, {})
    const cache = decoder.newCache()
    for (const {logits, top} of await decoder.prefill(cache, cache.add(), tokens.slice(0, 50), {predict: 'all'})) {
      assert.deepEqual(top.ids, mostLikely(logits, 64))
      assert.deepEqual(
        [...top.logits],
        Array.from(top.ids, (id) => logits[id] as number),
      )
      assert.ok(Math.abs(top.logTotal - logSumExp(logits)) < 1e-5)
    }
  })

  it('are returned without the other logits if these are not needed', async (test) => {
    const {decoder} = await load(test, {})
    const predict = async (logits: boolean) => {
      const cache = decoder.newCache()
      return decoder.prefill(cache, cache.add(), tokens.slice(0, 20), {logits})
    }
    const [few, all] = [await predict(false), await predict(true)]
    assert.deepEqual(few, [{...all[0], logits: new Float32Array()}])
  })
})

const adapters: Record<string, [Partial<TinyModel>, Partial<TinyAdapter>]> = {
  'Llama, manifest v3, rank 4': [{}, {}],
  'Llama, rank 16, tensors that end in .weight': [{seed: 21}, {rank: 16, alpha: 32, suffix: true}],
  'a tied head, quantisation flat': [{tied: true, layout: 'single'}, {form: 'v3-flat'}],
  'Qwen2, meta v2': [{family: 'qwen2', seed: 22}, {form: 'v2'}],
  'Qwen3, PEFT': [
    {family: 'qwen3', seed: 23},
    {form: 'peft', rank: 16},
  ],
  'Mistral, rank-stabilised PEFT': [{family: 'mistral', window: 60, seed: 24}, {form: 'peft-rs'}],
  'parts of fused projections': [
    {family: 'phi3', seed: 26},
    {form: 'peft', parts: true},
  ],
  'layers without the head': [{seed: 25}, {head: false}],
}

describe('a LoRA adapter', () => {
  const ofFamilies = Object.entries(tinyFamilies).map(([name, changes]) => [name, [changes, {form: 'peft'}]] as const)
  for (const [name, [changes, adapter]] of [...Object.entries(adapters), ...ofFamilies])
    it(`matches the reference and differs from the base: ${name}`, async (test) => {
      const model = await load(test, changes, adapter)
      // One adapter is enough to test the growth of the cache; the others differ in their file formats.
      const sizes = Object.keys(adapter).length === 0 ? runs : fewRuns
      const actual = await engineLogits(model, sizes)
      assertEqual(actual, model.reference.logits(tokens.slice(0, actual.length)))
      const few = 20
      const difference = largestDifference(actual.slice(0, few), model.base.logits(tokens.slice(0, few)))
      assert.ok(difference > 1e-2, `the adapter changes the logits by ${difference}`)
    })

  it('is refused if it updates routed experts', async (test) => {
    const {'Qwen3-MoE with a plain layer': changes = {}} = tinyFamilies
    await assert.rejects(load(test, changes, {form: 'peft', experts: true}), (error) =>
      isErrorOf(error, 'adapter_unsupported'),
    )
  })

  it('changes nothing if its B matrices are zero', async (test) => {
    const model = await load(test, {}, {zero: true})
    const actual = await engineLogits(model, fewRuns)
    assertEqual(actual, model.base.logits(tokens.slice(0, actual.length)))
  })
})

describe('batched sequences', () => {
  /** The last one grows beyond 256 positions while the others continue. */
  const lengths = [3, 20, 41, 64, 70, 100, 130, 246]
  const prompts = lengths.map((length, i) => tokens.slice(i, i + length))
  const steps = 20

  for (const [name, changes] of Object.entries({
    Llama: {},
    'Qwen2 with a window': {family: 'qwen2' as const, window: 40},
  }))
    it(`match the reference with and without the adapter in one run: ${name}`, async (test) => {
      const {decoder, own, reference, base} = await load(test, changes, {})
      const cache = decoder.newCache()
      const adapters = prompts.map((_, i) => (i % 2 === 0 ? own : undefined))
      for (const [i, prompt] of prompts.entries()) {
        const slot = cache.add()
        for (let at = 0; at < prompt.length; at += 64)
          await decoder.prefill(cache, slot, prompt.slice(at, at + 64), {adapter: adapters[i]})
      }
      const texts = prompts.map((prompt) => [...prompt])
      const expected = prompts.map((prompt, i) => {
        const more = Array.from({length: steps}, (_, step) => tokens[(step * 7 + i) % positions] as number)
        return (adapters[i] === undefined ? base : reference).logits([...prompt, ...more]).slice(prompt.length)
      })
      for (let step = 0; step < steps; step++) {
        const next = texts.map((_, i) => tokens[(step * 7 + i) % positions] as number)
        const predictions = await decoder.step(cache, next, {adapters})
        assertEqual(
          predictions.map(({logits}) => logits),
          expected.map((rows) => rows[step] as Float32Array),
        )
      }
    })

  it('keep their past when another sequence ends and its slot is reused', async (test) => {
    const {decoder, reference} = await load(test, {})
    const cache = decoder.newCache()
    for (const prompt of prompts.slice(0, 3)) await decoder.prefill(cache, cache.add(), prompt)
    cache.copy(2, 0)
    cache.pop()
    const predictions = await decoder.step(cache, [5, 6])
    const last = (prompt: readonly number[]) => reference.logits(prompt).at(-1) as Float32Array
    assertEqual(
      predictions.map(({logits}) => logits),
      [last([...(prompts[2] as number[]), 5]), last([...(prompts[1] as number[]), 6])],
    )
    cache.pop()
    cache.pop()
    assert.deepEqual([cache.size, cache.capacity], [0, 0], 'the memory is freed with the last sequence')
  })
})
