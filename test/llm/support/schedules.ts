import assert from 'node:assert/strict'
import type {TestContext} from 'node:test'
import type {GenerateRequest, LanguageModel} from '../../../src/llm/index.js'
import type {LoadOptions} from '../../../src/llm/load-options.js'
import {defaultSampling, randomSource} from '../../../src/sampling/index.js'
import {loadModel} from '../load-model.js'

const load = (t: TestContext, folder: string, options: Partial<LoadOptions>): Promise<LanguageModel> =>
  loadModel(t, folder, {threads: 2, numCtx: 1024, slots: 8, ...options})

async function tokensOf(model: LanguageModel, request: GenerateRequest, signal?: AbortSignal): Promise<number[]> {
  for await (const event of model.generate(request, signal)) if (event.type === 'done') return event.tokens
  throw new Error('The generation ended without a summary.')
}

/** Requests of which some share the beginning of their prompt. */
export function requestsOf(count: number, maxTokens: number): GenerateRequest[] {
  const head = 'Once upon a time there was a dog who had a red ball and liked to play. '
  return Array.from({length: count}, (_, i) => ({
    prompt: {kind: 'raw', text: `${head.repeat(i % 4)}Number ${i}: ${'The cat said hello. '.repeat(i % 5)}`},
    maxTokens: 2 + ((i * 7) % maxTokens),
    stop: [],
    sampling: {...defaultSampling, temperature: i % 3 === 0 ? 0.8 : 0, seed: i},
  }))
}

export interface Campaign {
  seed: number
  schedules: number
  requests: readonly GenerateRequest[]
  /** Whether receipts claim equal bytes. */
  isClaimed: boolean
}

/**
 * Runs requests in random order with random pauses, and cancels some of them on the way. Compares the tokens of the
 * others with those of single runs without caches and drafts.
 */
export async function compareSchedules(
  t: TestContext,
  folder: string,
  options: Partial<LoadOptions>,
  {seed, schedules, requests, isClaimed}: Campaign,
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
