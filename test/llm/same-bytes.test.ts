import assert from 'node:assert/strict'
import {afterEach, beforeEach, describe, it} from 'node:test'
import type {GenerateRequest, LanguageModel} from '../../src/llm/index.js'
import {hasByteProducts} from '../../src/onnx/index.js'
import {defaultSampling} from '../../src/sampling/index.js'
import {suiteFolder, temporaryFolder} from '../support/temporary.js'
import {tinyFamilies} from '../support/tiny-families.js'
import {writeTinyModel} from '../support/tiny-model.js'
import {loadModel} from './load-model.js'

const head = 'The dog has a red ball. The dog has a red ball. '

/** Requests that share beginnings and repeat text, greedy and sampled, on both sides of the windows of the families. */
const requests: readonly GenerateRequest[] = Array.from({length: 6}, (_, i) => ({
  prompt: {kind: 'raw', text: `${head.slice(0, 12 + 7 * i)}Number ${i}.`},
  maxTokens: 6 + i,
  stop: [],
  sampling: {...defaultSampling, temperature: i % 3 === 0 ? 0.8 : 0, seed: i},
  topLogprobs: 2,
}))

interface Reply {
  tokens: readonly number[]
  logprobs: readonly number[]
}

async function replyOf(model: LanguageModel, request: GenerateRequest): Promise<Reply> {
  const logprobs: number[] = []
  for await (const event of model.generate(request)) {
    if (event.type === 'text') logprobs.push(...(event.logprobs ?? []).map(({logprob}) => logprob))
    if (event.type === 'done') return {tokens: event.tokens, logprobs}
  }
  throw new Error('The generation ended without a summary.')
}

/** Products of one row and of several are rounded differently, so log-probabilities differ in their last bits. */
function assertSame(found: readonly Reply[], expected: readonly Reply[], most = 1e-4): void {
  const tokensOf = (replies: readonly Reply[]) => replies.map(({tokens}) => tokens)
  assert.deepEqual(tokensOf(found), tokensOf(expected))
  const values = (replies: readonly Reply[]) => replies.flatMap(({logprobs}) => logprobs)
  const others = values(expected)
  assert.ok(others.length > 0)
  const largest = Math.max(...values(found).map((value, i) => Math.abs(value - (others[i] as number))))
  assert.ok(largest < most, `largest difference ${largest}`)
}

describe('a reply has the same bytes alone, in a batch, and with drafts and saved prompts', () => {
  // Quantised weights are not written to the cache of the user.
  const cache = suiteFolder()
  const {XDG_CACHE_HOME: before} = process.env
  beforeEach(() => {
    process.env.XDG_CACHE_HOME = cache
  })
  afterEach(() => {
    if (before === undefined) delete process.env.XDG_CACHE_HOME
    else process.env.XDG_CACHE_HOME = before
  })

  for (const [name, changes] of Object.entries(tinyFamilies))
    it(name, async (t) => {
      const folder = await temporaryFolder(t)
      await writeTinyModel(folder, changes)
      const plain = await loadModel(t, folder, {slots: 1})
      const expected: Reply[] = []
      for (const request of requests) expected.push(await replyOf(plain, request))
      const model = await loadModel(t, folder, {slots: 4, prefixBytes: 10_000_000, promptLookup: true})
      for (let round = 0; round < 2; round++)
        assertSame(await Promise.all(requests.map((request) => replyOf(model, request))), expected)
      assert.ok(model.counters.get('cachedTokens') > 0, 'saved prompts are used')
      assert.ok(model.counters.get('batchedRuns') > 0, 'requests run in batches')
    })

  // Elsewhere, one row of products with 4 bits is rounded differently from several.
  const rounded = hasByteProducts() ? (['w8', 'w4'] as const) : (['w8'] as const)
  for (const precision of rounded)
    for (const [name, changes] of Object.entries(tinyFamilies))
      it(`${name}, ${precision}`, async (t) => {
        const folder = await temporaryFolder(t)
        await writeTinyModel(folder, changes)
        // One model is enough: alone, and then in batches.
        const model = await loadModel(t, folder, {slots: 4, precision})
        const alone: Reply[] = []
        for (const request of requests) alone.push(await replyOf(model, request))
        // Elsewhere, one row of products with 4 bits is rounded differently from several, and rounded inputs amplify that.
        const most = precision === 'w4' && !hasByteProducts() ? 0.1 : undefined
        assertSame(await Promise.all(requests.map((request) => replyOf(model, request))), alone, most)
        assert.ok(model.counters.get('batchedRuns') > 0, 'requests run in batches')
      })
})
