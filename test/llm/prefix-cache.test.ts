import assert from 'node:assert/strict'
import {describe, it, type TestContext} from 'node:test'
import {openDecoder} from '../../src/llm/decoder.js'
import {readDecoderSpec} from '../../src/llm/families/index.js'
import type {GenerateRequest, GenerateSummary, LanguageModel} from '../../src/llm/index.js'
import {PrefixCache} from '../../src/llm/prefix-cache.js'
import type {SequenceState} from '../../src/llm/sequence-cache.js'
import {defaultSampling} from '../../src/sampling/index.js'
import {openRunDirectory, readJsonObject} from '../../src/weights/index.js'
import {temporaryFolder, writeFiles} from '../support/temporary.js'
import {tinyAdapterFiles, tinyModel, writeTinyModel} from '../support/tiny-model.js'
import {loadModel} from './load-model.js'

const range = (from: number, length: number) => Array.from({length}, (_, i) => (from + i * 37) % tinyModel.vocabSize)
const stateOf = (length: number): SequenceState => ({length, bytes: length, layers: []})

describe('saved beginnings of prompts', () => {
  it('are found by the longest common beginning of the same adapter', () => {
    const cache = new PrefixCache(1000)
    const [short, long] = [range(0, 20), range(0, 40)]
    cache.add(short, 'a', stateOf(20))
    cache.add(range(5, 30), 'a', stateOf(30))
    assert.equal(cache.find(long, 'a', 39).length, 20)
    cache.add([...long.slice(0, 30), 1, 2, 3], 'a', stateOf(33))
    assert.equal(cache.bytes, 63, 'a sequence replaces its beginnings')
    assert.deepEqual(cache.find(long, 'a', 39), {state: stateOf(33), length: 30, common: 30})
    assert.equal(cache.find(long, 'a', 17).length, 17)
    assert.equal(cache.find(long, 'a', 15).length, 0, 'a short beginning is not worth it')
    assert.equal(cache.find(long, '', 39).state, undefined)
    assert.equal(cache.find(range(9, 40), 'a', 39).state, undefined)
  })

  it('are dropped when the limit is reached, the least recently used first', () => {
    const cache = new PrefixCache(100)
    for (const [i, from] of [1, 2, 3].entries()) cache.add(range(from, 30 + i), 'a', stateOf(30 + i))
    cache.find(range(1, 40), 'a', 40)
    cache.add(range(4, 35), 'a', stateOf(35))
    assert.deepEqual(
      [1, 2, 3, 4].map((from) => cache.find(range(from, 40), 'a', 40).length),
      [30, 0, 32, 35],
    )
    assert.equal(cache.bytes, 97)
    assert.equal(cache.wants(range(7, 200), 'a', 101), false, 'larger than the cache')
    assert.equal(cache.wants(range(1, 25), 'a', 25), false, 'known')
    assert.equal(cache.wants(range(1, 25), '', 25), true)
  })

  it('restore the state of a sequence exactly, in another slot and capacity', async (t) => {
    const folder = await temporaryFolder(t)
    await writeTinyModel(folder, {})
    const {config, tensors} = await openRunDirectory(folder)
    const spec = readDecoderSpec(await readJsonObject(config), config, (name) => tensors.has(name))
    const decoder = await openDecoder(spec, tensors, {contextLength: 1024, threads: 1})
    t.after(() => decoder.release())
    for (const [length, saved, other] of [
      [50, 50, 0],
      [50, 33, 300],
      [300, 300, 20],
      [300, 270, 600],
    ] as const) {
      const prompt = range(3, length)
      const rest = range(8, 9)
      const direct = decoder.newCache()
      const own = direct.add()
      await decoder.prefill(direct, own, prompt.slice(0, saved))
      const expected = await decoder.prefill(direct, own, rest)
      const source = decoder.newCache()
      if (other > 0) await decoder.prefill(source, source.add(), range(1, other))
      const slot = source.add()
      await decoder.prefill(source, slot, prompt.slice(0, saved))
      if (saved < length) await decoder.prefill(source, slot, prompt.slice(saved))
      const target = decoder.newCache()
      await decoder.prefill(target, target.add(), range(2, 5))
      const restored = target.add()
      target.restore(restored, source.save(slot), saved)
      assert.deepEqual(await decoder.prefill(target, restored, rest), expected)
    }
  })
})

/** Loads a tiny model with and without the cache. */
async function loadBoth(t: TestContext): Promise<{model: LanguageModel; plain: LanguageModel}> {
  const folder = await temporaryFolder(t)
  await writeTinyModel(folder, {contextLength: 2048})
  await writeFiles(folder, tinyAdapterFiles({}, {}))
  const load = (prefixBytes: number) => loadModel(t, folder, {slots: 3, prefixBytes})
  return {model: await load(1e7), plain: await load(0)}
}

const ask = (tokens: readonly number[], more: Partial<GenerateRequest> = {}): GenerateRequest => ({
  prompt: {kind: 'tokens', tokens},
  maxTokens: 12,
  stop: [],
  sampling: {...defaultSampling, temperature: 0},
  ...more,
})

async function summaryOf(model: LanguageModel, request: GenerateRequest): Promise<GenerateSummary> {
  for await (const event of model.generate(request)) if (event.type === 'done') return event
  throw new Error('There is no summary.')
}

const tokensOf = async (model: LanguageModel, request: GenerateRequest) => (await summaryOf(model, request)).tokens

describe('a model that saves the beginnings of prompts', () => {
  it('computes only the rest of a prompt, with the same result', async (t) => {
    const {model, plain} = await loadBoth(t)
    const cached = () => model.counters.get('cachedTokens')
    const first = await tokensOf(model, ask(range(0, 60)))
    assert.equal(cached(), 0)
    // The next turn of a conversation: the first prompt, its reply and a question.
    const second = ask([...first, ...range(11, 20)])
    assert.deepEqual(await tokensOf(model, second), await tokensOf(plain, second))
    assert.equal(cached(), first.length - 1)
    // The same prompt again: all but its last two tokens are known.
    assert.equal((await summaryOf(model, second)).cachedTokens, first.length + 18)
    assert.equal(cached(), 2 * first.length + 17)
    assert.equal(plain.counters.get('cachedTokens'), 0)
  })

  it('shares with running requests, but not with another adapter or for scores of the prompt', async (t) => {
    const {model, plain} = await loadBoth(t)
    const cached = () => model.counters.get('cachedTokens')
    const prompt = range(0, 80)
    const running = ask(prompt, {maxTokens: 40})
    const others = [ask([...prompt.slice(0, 70), 5, 6]), ask([...prompt, 9], {adapter: false})]
    const whole = tokensOf(model, running)
    while (model.counters.get('completionTokens') === 0) await new Promise((resolve) => setImmediate(resolve))
    const found = await Promise.all(others.map((request) => tokensOf(model, request)))
    for (const [i, request] of others.entries()) assert.deepEqual(found[i], await tokensOf(plain, request))
    assert.deepEqual(await whole, await tokensOf(plain, running))
    assert.equal(cached(), 70)
    await tokensOf(model, ask(prompt, {topLogprobs: 1, echo: true}))
    assert.equal(cached(), 70)
  })
})
