import assert from 'node:assert/strict'
import {join} from 'node:path'
import type {TestContext} from 'node:test'
import type {AdapterSource, GenerateEvent, GenerateRequest, LanguageModel} from '../../../src/llm/index.js'
import type {LoadOptions} from '../../../src/llm/load-options.js'
import {defaultSampling, randomSource} from '../../../src/sampling/index.js'
import {openAdapter} from '../../../src/weights/index.js'
import {temporaryFolder, writeFiles} from '../../support/temporary.js'
import {type TinyAdapter, tinyAdapterFiles, writeTinyModel} from '../../support/tiny-model.js'
import {loadModel} from '../load-model.js'

const model = {hiddenSize: 64, layout: 'single', contextLength: 512} as const

/** Adapters of different ranks and formats, with and without the head. */
const changes: readonly Partial<TinyAdapter>[] = Array.from({length: 6}, (_, i) => ({
  seed: 50 + i,
  rank: [4, 16, 3, 8, 24, 1][i] as number,
  form: i % 2 === 0 ? 'v3' : 'peft',
  head: i % 3 === 0,
}))

export interface Campaign extends Pick<LoadOptions, 'promptLookup' | 'prefixBytes'> {
  precision: 'f32' | 'w8'
  schedules: number
  seed: number
  /** Part of the adapters that fit into the memory. Others are read again, which takes most of the time. */
  memory: number
  /** Whether log-probabilities are compared, too. */
  exact: boolean
}

async function eventsOf(
  loaded: LanguageModel,
  request: GenerateRequest,
  signal?: AbortSignal,
): Promise<GenerateEvent[]> {
  const events: GenerateEvent[] = []
  for await (const event of loaded.generate(request, signal)) events.push(event)
  return events
}

/** What must be equal: the tokens, and the log-probabilities to the last bit if they are exact. */
function essence(events: readonly GenerateEvent[], exact: boolean): string {
  const last = events.at(-1)
  const tokens = last?.type === 'done' ? last.tokens : []
  const logprobs = events.flatMap((event) => (event.type === 'text' ? (event.logprobs ?? []) : []))
  return JSON.stringify([tokens, exact ? logprobs : logprobs.length])
}

/** Requests for different adapters, of which some share the beginning of their prompt. */
function requestsOf(sources: readonly AdapterSource[]): GenerateRequest[] {
  const head = 'Once upon a time there was a dog who had a red ball. '
  return Array.from({length: 12}, (_, i) => {
    const source = sources[i % (sources.length + 1)]
    return {
      prompt: {kind: 'raw', text: `${head.repeat(i % 3)}Number ${i % 4}: `},
      maxTokens: 2 + ((i * 5) % 7),
      stop: [],
      sampling: {...defaultSampling, temperature: i % 3 === 0 ? 0.8 : 0, seed: i},
      topLogprobs: 2,
      ...(source === undefined ? {} : {adapter: source}),
    }
  })
}

/**
 * Runs requests for many adapters in random order with random pauses, in too little memory for all of them, and cancels
 * some. Compares the others with single runs without caches and drafts.
 */
export async function compareSchedules(
  t: TestContext,
  {precision, schedules, seed, memory, exact, ...caches}: Campaign,
): Promise<void> {
  const folder = await temporaryFolder(t)
  await writeTinyModel(join(folder, 'model'), model)
  const sources: AdapterSource[] = []
  let bytes = 0
  for (const [i, each] of changes.entries()) {
    const place = join(folder, `a${i}`)
    await writeFiles(place, tinyAdapterFiles(model, each))
    const {key, deltas} = await openAdapter(place)
    bytes += deltas.reduce((sum, {a, b}) => sum + a.length + b.length, 0)
    sources.push({name: `a${i}`, folder: place, key, isPinned: false})
  }
  const maxBytes = memory * bytes
  const load = (options: Partial<LoadOptions>) =>
    loadModel(t, join(folder, 'model'), {precision, slots: 5, adapters: {maxBytes, pinned: []}, ...options})
  const requests = requestsOf(sources)
  const plain = await load({promptLookup: false})
  const expected: string[] = []
  for (const request of requests) expected.push(essence(await eventsOf(plain, request), exact))
  assert.ok(new Set(expected).size > sources.length)
  const loaded = await load(caches)
  const random = randomSource(seed)
  for (let schedule = 0; schedule < schedules; schedule++) {
    const order = requests.map((_, i) => ({i, at: random()})).sort((a, b) => a.at - b.at)
    await Promise.all(
      order.slice(0, 4 + Math.floor(random() * 8)).map(async ({i}) => {
        for (let turns = random() * 30; turns > 0; turns--) await new Promise((resolve) => setImmediate(resolve))
        const abort = new AbortController()
        if (random() < 0.1) setTimeout(() => abort.abort(), random() * 10)
        const events = await eventsOf(loaded, requests[i] as GenerateRequest, abort.signal).catch((error) => {
          if (!abort.signal.aborted) throw error
        })
        if (events !== undefined)
          assert.equal(essence(events, exact), expected[i], `request ${i} of schedule ${schedule} of seed ${seed}`)
      }),
    )
  }
  await loaded.idle()
  assert.deepEqual([loaded.counters.get('running'), loaded.counters.get('waiting')], [0, 0])
}
