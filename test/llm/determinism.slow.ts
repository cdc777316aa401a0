import assert from 'node:assert/strict'
import {describe, it, type TestContext} from 'node:test'
import type {GenerateRequest, LanguageModel} from '../../src/llm/index.js'
import type {LoadOptions} from '../../src/llm/load-options.js'
import {provenShapes} from '../../src/llm/receipt/same-bytes.js'
import {defaultSampling, randomSource} from '../../src/sampling/index.js'
import {qwen05b, writeRandomModel} from '../bench/random-model.js'
import {campaignSeed} from '../support/campaign-seed.js'
import {projectFile, sharedData, skipWithout} from '../support/project.js'
import {temporaryFolder} from '../support/temporary.js'
import {loadModel} from './load-model.js'

const seed = campaignSeed(import.meta.url)

const load = (t: TestContext, folder: string, options: Partial<LoadOptions>): Promise<LanguageModel> =>
  loadModel(t, folder, {threads: 2, numCtx: 1024, slots: 8, ...options})

async function tokensOf(model: LanguageModel, request: GenerateRequest, signal?: AbortSignal): Promise<number[]> {
  for await (const event of model.generate(request, signal)) if (event.type === 'done') return event.tokens
  throw new Error('The generation ended without a summary.')
}

/** Requests of which some share the beginning of their prompt. */
function requestsOf(count: number, maxTokens: number): GenerateRequest[] {
  const head = 'Once upon a time there was a dog who had a red ball and liked to play. '
  return Array.from({length: count}, (_, i) => ({
    prompt: {kind: 'raw', text: `${head.repeat(i % 4)}Number ${i}: ${'The cat said hello. '.repeat(i % 5)}`},
    maxTokens: 2 + ((i * 7) % maxTokens),
    stop: [],
    sampling: {...defaultSampling, temperature: i % 3 === 0 ? 0.8 : 0, seed: i},
  }))
}

/**
 * Runs requests in random order with random pauses, and cancels some of them on the way. Compares the tokens of the
 * others with those of single runs without caches and drafts.
 */
async function compare(
  t: TestContext,
  folder: string,
  options: Partial<LoadOptions>,
  {schedules, requests, isClaimed}: {schedules: number; requests: readonly GenerateRequest[]; isClaimed: boolean},
): Promise<void> {
  const plain = await load(t, folder, {precision: options.precision ?? 'f32', promptLookup: false})
  const expected: number[][] = []
  for (const request of requests) expected.push(await tokensOf(plain, request))
  const model = await load(t, folder, options)
  assert.equal(model.description.sources.bytes, isClaimed ? 'same' : 'batch_variant')
  const random = randomSource(seed)
  for (let schedule = 0; schedule < schedules; schedule++) {
    const order = requests.map((_, i) => ({i, at: random()})).sort((a, b) => a.at - b.at)
    await Promise.all(
      order.map(async ({i}) => {
        for (let turns = random() * 60; turns > 0; turns--) await new Promise((resolve) => setImmediate(resolve))
        const abort = new AbortController()
        const request = requests[i] as GenerateRequest
        if (random() < 0.15) setTimeout(() => abort.abort(), random() * 20)
        const tokens = await tokensOf(model, request, abort.signal).catch((error) => {
          if (!abort.signal.aborted) throw error
        })
        if (tokens !== undefined) assert.deepEqual(tokens, expected[i], `request ${i} of schedule ${schedule}`)
      }),
    )
  }
  await model.idle()
  assert.deepEqual([model.counters.get('running'), model.counters.get('waiting')], [0, 0])
}

/** Keys and values of replies are rounded differently in prompts, so with rounded weights only prompts are reused. */
const promptsOnly = {promptLookup: false, prefixBytes: 0}

interface Campaign {
  skip?: string | false
  folder(t: TestContext): Promise<string>
  requests: readonly GenerateRequest[]
}

/** Of the shapes for which receipts claim equal bytes. */
const campaigns: Readonly<Record<string, Campaign>> = {
  stories260K: {
    skip: skipWithout('stories260K'),
    folder: async () => sharedData('stories260K') ?? '',
    requests: requestsOf(16, 60),
  },
  guide: {
    folder: async () => projectFile('examples/runs/guide'),
    // With and without its adapter in the same batch.
    requests: requestsOf(8, 16).map((request, i) => (i % 3 === 0 ? {...request, adapter: false as const} : request)),
  },
  '0.5B': {
    async folder(t) {
      const folder = await temporaryFolder(t)
      await writeRandomModel(folder, qwen05b, 'BF16')
      return folder
    },
    requests: requestsOf(4, 6),
  },
}

describe('a request has the same tokens in every schedule', () => {
  it('for all shapes for which receipts claim it', () => {
    assert.deepEqual(
      provenShapes.map(({name}) => name),
      Object.keys(campaigns),
    )
  })

  for (const [precision, options] of [
    ['f32', {promptLookup: true, prefixBytes: 100_000_000}],
    ['w8', promptsOnly],
  ] as const)
    for (const [name, {skip = false, folder, requests}] of Object.entries(campaigns))
      it(`${precision}, ${name}, 200 schedules`, {skip}, async (t) => {
        const isClaimed = provenShapes.some((proven) => proven.name === name && proven.precisions.includes(precision))
        await compare(t, await folder(t), {precision, ...options}, {schedules: 200, requests, isClaimed})
      })
})
