import assert from 'node:assert/strict'
import {describe, it, type TestContext} from 'node:test'
import type {GenerateRequest, LanguageModel} from '../../src/llm/index.js'
import {PromptLookup} from '../../src/llm/prompt-lookup.js'
import {defaultSampling, randomSource, type SamplingOptions} from '../../src/sampling/index.js'
import {sharedData, skipWithout} from '../support/project.js'
import {temporaryFolder, writeFiles} from '../support/temporary.js'
import {tinyAdapterFiles, writeTinyModel} from '../support/tiny-model.js'
import {loadModel} from './load-model.js'

const range = (from: number, length: number) => Array.from({length}, (_, i) => from + i)

/** A lookup that has measured runs of one token. */
function measured(): PromptLookup {
  const lookup = new PromptLookup()
  lookup.draft([1], 10)
  lookup.ran(1, 10, [2])
  return lookup
}

describe('PromptLookup', () => {
  it('drafts what followed the same tokens before', () => {
    const lookup = measured()
    lookup.learn([...range(0, 40), 99, ...range(60, 20)], 0)
    assert.deepEqual(lookup.draft(range(20, 10), 4), [30, 31, 32, 33])
    assert.deepEqual(lookup.draft([500, 501, 37, 38, 39], 3), [99], 'shorter n-grams predict less surely')
    assert.deepEqual(lookup.draft(range(20, 10), 0), [])
    assert.deepEqual(lookup.draft([500, 501, 502], 4), [])
  })

  it('prefers the longer of two n-grams and the newer of two equal ones', () => {
    const lookup = measured()
    lookup.learn([...range(0, 10), 50], 0)
    lookup.learn([7, 8, 9, 60], 0)
    assert.equal(lookup.draft(range(0, 10), 5)[0], 50)
    lookup.learn([...range(0, 10), 51], 0)
    assert.equal(lookup.draft(range(0, 10), 5)[0], 51)
  })

  it('drafts nothing before it knows the duration of a run', () => {
    const lookup = new PromptLookup()
    lookup.learn(range(0, 40), 0)
    assert.deepEqual(lookup.draft(range(0, 20), 5), [])
  })

  it('stops when drafts do not pay, and starts again when predictions are right', () => {
    const lookup = measured()
    lookup.learn(range(0, 40), 0)
    const drafted = (next: number) => {
      const {length} = lookup.draft(range(10, 10), 8)
      lookup.ran(length + 1, 10 + length, [next])
      return length
    }
    assert.ok(drafted(500) > 0)
    for (let i = 0; i < 50; i++) drafted(500)
    assert.equal(drafted(500), 0)
    for (let i = 0; i < 50; i++) drafted(20)
    assert.ok(drafted(20) > 0)
  })

  it('drafts long texts, but not where long runs are slow', () => {
    const fast = measured()
    const slow = measured()
    for (const lookup of [fast, slow]) lookup.learn(range(0, 60), 0)
    for (let i = 0; i < 50; i++) {
      for (const [lookup, msPerToken] of [
        [fast, 0.1],
        [slow, 15],
      ] as const) {
        const draft = lookup.draft(range(10, 10), 30)
        lookup.ran(draft.length + 1, 10 + msPerToken * draft.length, [...draft, 20 + draft.length])
      }
    }
    const [long, short] = [fast.draft(range(10, 10), 30).length, slow.draft(range(10, 10), 30).length]
    assert.deepEqual([short, long], [0, 30])
  })
})

/** Loads a model with and without prompt lookup. */
async function loadBoth(t: TestContext, folder: string): Promise<{lookup: LanguageModel; plain: LanguageModel}> {
  const load = (promptLookup: boolean) => loadModel(t, folder, {slots: 3, promptLookup})
  return {lookup: await load(true), plain: await load(false)}
}

async function eventsOf(model: LanguageModel, request: GenerateRequest) {
  const events: object[] = []
  let tokens: readonly number[] = []
  for await (const event of model.generate(request)) {
    if (event.type === 'done') {
      tokens = event.tokens
      events.push({finishReason: event.finishReason, completionTokens: event.completionTokens})
    } else events.push(event)
  }
  return {events, tokens}
}

const request = (
  text: string,
  changes: Partial<GenerateRequest>,
  sampling: Partial<SamplingOptions>,
): GenerateRequest => ({
  prompt: {kind: 'raw', text},
  maxTokens: 120,
  stop: [],
  sampling: {...defaultSampling, temperature: 0, ...sampling},
  ...changes,
})

const kinds: Record<string, [Partial<GenerateRequest>, Partial<SamplingOptions>]> = {
  'the most likely tokens': [{}, {}],
  'without the adapter': [{adapter: false}, {}],
  'sampled tokens': [{}, {temperature: 0.9, topK: 3, topP: 1}],
  'tokens sampled from all': [{}, {temperature: 0.2, topK: 0}],
  'with penalties': [{}, {temperature: 0.5, repeatPenalty: 1.01}],
  'with log-probabilities': [{topLogprobs: 2}, {}],
  'a single token': [{maxTokens: 1}, {}],
}

describe('prompt lookup', () => {
  it('does not change the text of a model', async (t) => {
    const folder = await temporaryFolder(t)
    await writeTinyModel(folder, {contextLength: 400})
    await writeFiles(folder, tinyAdapterFiles({}, {}))
    const {lookup, plain} = await loadBoth(t, folder)
    for (const [name, [changes, sampling]] of Object.entries(kinds))
      for (const seed of [1, 2, 3]) {
        const asked = request(`${'abcdefgh'.repeat(4)}${seed}`, changes, {seed, ...sampling})
        const [actual, expected] = [await eventsOf(lookup, asked), await eventsOf(plain, asked)]
        assert.deepEqual(actual.tokens, expected.tokens, name)
        if (asked.topLogprobs === undefined) assert.deepEqual(actual.events, expected.events, name)
      }
    const {draftedTokens, acceptedTokens, graphRuns, completionTokens} = lookup.counters.snapshot()
    assert.ok(acceptedTokens > 0 && draftedTokens >= acceptedTokens, `${acceptedTokens} of ${draftedTokens}`)
    assert.ok(graphRuns < completionTokens, 'fewer runs than tokens')
    assert.equal(plain.counters.get('draftedTokens'), 0)
  })

  it('stops at a stop string, at the end of the context, and when cancelled', async (t) => {
    const folder = await temporaryFolder(t)
    await writeTinyModel(folder, {contextLength: 300})
    const {lookup, plain} = await loadBoth(t, folder)
    const text = 'abcdefgh'.repeat(4)
    const all = request(text, {maxTokens: undefined}, {})
    const [actual, expected] = [await eventsOf(lookup, all), await eventsOf(plain, all)]
    assert.deepEqual(actual, expected)
    assert.equal(expected.tokens.length, 300)
    const reply = expected.events.map((event) => ('text' in event ? String(event.text) : '')).join('')
    const stopped = request(text, {stop: [reply.slice(150, 153)]}, {})
    assert.deepEqual(await eventsOf(lookup, stopped), await eventsOf(plain, stopped))
    const abort = new AbortController()
    await assert.rejects(async () => {
      for await (const _ of lookup.generate(all, abort.signal)) abort.abort()
    }, /aborted/)
    await lookup.idle()
    assert.deepEqual(await eventsOf(lookup, all), expected)
  })

  it('does not change the text of requests that start and end at random', {
    skip: skipWithout('stories260K'),
  }, async (t) => {
    const {lookup, plain} = await loadBoth(t, sharedData('stories260K') ?? '')
    const random = randomSource(5)
    const requests = Array.from({length: 12}, (_, i) =>
      request(
        ['Once upon a time', 'Tom had a red ball. Tom had a red'][i % 2] ?? '',
        {maxTokens: 20 + 15 * i},
        {
          temperature: i % 3 === 0 ? 0.7 : 0,
          seed: i,
        },
      ),
    )
    const expected = []
    for (const asked of requests) expected.push((await eventsOf(plain, asked)).tokens)
    const actual = await Promise.all(
      requests.map(async (asked) => {
        for (let turns = random() * 400; turns > 0; turns--) await new Promise((resolve) => setImmediate(resolve))
        return (await eventsOf(lookup, asked)).tokens
      }),
    )
    assert.deepEqual(actual, expected)
    assert.ok(lookup.counters.get('acceptedTokens') > 0)
  })
})
