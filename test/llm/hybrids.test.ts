import assert from 'node:assert/strict'
import {join} from 'node:path'
import {before, describe, it, type TestContext} from 'node:test'
import {EngineCounters} from '../../src/llm/counters.js'
import {openDecoder} from '../../src/llm/decoder.js'
import {
  type GenerateEvent,
  type GenerateRequest,
  type GenerateSummary,
  type LanguageModel,
  loadLanguageModel,
} from '../../src/llm/index.js'
import {readModelFiles} from '../../src/llm/model-files.js'
import {PrefixCache} from '../../src/llm/prefix-cache.js'
import {PromptLookup} from '../../src/llm/prompt-lookup.js'
import {Scheduler} from '../../src/llm/scheduler.js'
import {defaultSampling} from '../../src/sampling/index.js'
import {suiteFolder} from '../support/temporary.js'
import {tinyModel, writeTinyModel} from '../support/tiny-model.js'
import {loadModel} from './load-model.js'
import {compareSchedules, requestsOf} from './support/schedules.js'

const range = (from: number, length: number) => Array.from({length}, (_, i) => (from + i * 37) % tinyModel.vocabSize)

const ask = (tokens: readonly number[], maxTokens = 12): GenerateRequest => ({
  prompt: {kind: 'tokens', tokens},
  maxTokens,
  stop: [],
  sampling: {...defaultSampling, temperature: 0},
})

async function summaryOf(model: LanguageModel, request: GenerateRequest): Promise<GenerateSummary> {
  for await (const event of model.generate(request)) if (event.type === 'done') return event
  throw new Error('There is no summary.')
}

/** The tokens of prompt and reply. */
const tokensOf = async (model: LanguageModel, request: GenerateRequest) => (await summaryOf(model, request)).tokens

/** The tokens of prompt and reply. */
async function submit(scheduler: Scheduler, {prompt, ...request}: GenerateRequest): Promise<readonly number[]> {
  const tokens = prompt.kind === 'tokens' ? prompt.tokens : []
  const found = await new Promise<readonly number[]>((resolve, reject) => {
    const listener = {
      event: (event: GenerateEvent) => event.type === 'done' && resolve(event.tokens),
      fail: reject,
    }
    scheduler.submit(tokens, request, listener, new AbortController().signal)
  })
  await scheduler.idle()
  return found
}

/** Drafts what is right for a number of tokens, and then something wrong. */
class Oracle extends PromptLookup {
  readonly #text: readonly number[]
  readonly #right: () => number

  constructor(text: readonly number[], right: () => number) {
    super()
    this.#text = text
    this.#right = right
  }

  override draft(tokens: readonly number[], most: number): number[] {
    const draft = this.#text.slice(tokens.length, tokens.length + 6)
    const right = this.#right()
    return draft.map((token, i) => (i < right ? token : (token + 1) % tinyModel.vocabSize)).slice(0, most)
  }
}

describe('a hybrid model', () => {
  const folder = suiteFolder()
  before(() => writeTinyModel(folder, {family: 'lfm2', layers: 4, tied: true, layout: 'single', contextLength: 2048}))

  const open = async (t: TestContext) => {
    const {directory, spec, text, rules} = await readModelFiles(folder, {threads: 1, numCtx: 0})
    const [contextLength, topCount] = [1024, 64]
    const decoder = await openDecoder(spec, directory.tensors, {contextLength, threads: 1})
    t.after(() => decoder.release())
    return {decoder, model: {tokenizer: text.tokenizer, contextLength, endTokens: text.ends, topCount, rules}}
  }

  it('has the same text with right and wrong drafts of any length', async (t) => {
    const plain = await loadModel(t, folder, {})
    const prompt = range(0, 30)
    const text = await tokensOf(plain, ask(prompt, 40))
    const {decoder, model} = await open(t)
    for (const [right, isAccepted] of [
      [() => 0, false],
      [() => 99, true],
      [() => 3, true],
      [
        (
          (i = 0) =>
          () =>
            i++ % 7
        )(),
        true,
      ],
    ] as const) {
      const counters = new EngineCounters()
      const lookup = new Oracle(text, right)
      const scheduler = new Scheduler(decoder, model, {slots: 2, queueLimit: 1, lookup}, counters)
      assert.deepEqual(await submit(scheduler, ask(prompt, 40)), text)
      assert.ok(counters.get('draftedTokens') > 0)
      assert.equal(counters.get('acceptedTokens') > 0, isAccepted)
    }
  })

  it('continues a reply that ended within a draft', async (t) => {
    const plain = await loadModel(t, folder, {})
    const [prompt, next] = [range(0, 30), range(8, 20)]
    const text = await tokensOf(plain, ask(prompt, 40))
    const {decoder, model} = await open(t)
    for (const last of [10, 20, 30]) {
      const endTokens = new Set([text[prompt.length + last] as number])
      const options = {slots: 2, queueLimit: 1, lookup: new Oracle(text, () => 99), prefixes: new PrefixCache(1e7)}
      const counters = new EngineCounters()
      const scheduler = new Scheduler(decoder, {...model, endTokens}, options, counters)
      const ended = await submit(scheduler, ask(prompt, 40))
      assert.ok(ended.length < text.length)
      const turn = ask([...ended, ...next], 1)
      assert.deepEqual(await submit(scheduler, turn), await tokensOf(plain, turn))
      assert.ok(counters.get('cachedTokens') >= prompt.length, 'states before the last draft are saved')
    }
  })

  it('computes forced tokens of some requests while others continue', async (t) => {
    const model = await loadModel(t, folder, {slots: 4, prefixBytes: 1e7})
    const requests = range(3, 4).map((from, i): GenerateRequest => {
      const sampling = {...defaultSampling, temperature: 1, seed: i}
      const format = {kind: 'regex', pattern: '([A-Z], ){20}'} as const
      return {...ask(range(from, 20), 60), sampling, ...(i % 2 === 0 ? {format} : {})}
    })
    const alone: (readonly number[])[] = []
    for (const request of requests) alone.push(await tokensOf(model, request))
    assert.deepEqual(await Promise.all(requests.map((request) => tokensOf(model, request))), alone)
    assert.ok(model.counters.get('batchedRuns') > 0)
  })

  it('has the same tokens in 20 schedules with drafts and saved prompts', async (t) => {
    const options = {promptLookup: true, prefixBytes: 1e7, threads: 1}
    await compareSchedules(t, folder, options, {seed: 1, schedules: 20, requests: requestsOf(8, 20), isClaimed: false})
  })

  it('begins with the states of an earlier turn, and where two prompts began to differ', async (t) => {
    const [model, plain] = [await loadModel(t, folder, {prefixBytes: 1e7}), await loadModel(t, folder, {})]
    const cachedOf = async (request: GenerateRequest) => {
      const [found, expected] = [await summaryOf(model, request), await summaryOf(plain, request)]
      assert.deepEqual(found.tokens, expected.tokens)
      return {...found, cached: found.cachedTokens}
    }
    const head = range(5, 60)
    const first = await cachedOf(ask(head))
    assert.equal((await cachedOf(ask([...first.tokens, ...range(11, 20)]))).cached, first.tokens.length - 1)
    const system = range(9, 50)
    const questions = [1, 2, 3].map((from) => ask([...system, ...range(100 * from, 20)]))
    const cached: number[] = []
    for (const question of questions) cached.push((await cachedOf(question)).cached)
    assert.deepEqual(cached, [0, 0, system.length], 'the second prompt shows where the others may differ')
  })

  it('keeps states before the end of a long prompt, which the next turn may not repeat', async (t) => {
    const model = await loadModel(t, folder, {prefixBytes: 1e7})
    const prompt = range(3, 200)
    await tokensOf(model, ask(prompt))
    const {cachedTokens} = await summaryOf(model, ask([...prompt.slice(0, -2), ...range(50, 30)]))
    assert.equal(cachedTokens, prompt.length - 16)
  })

  it('begins with states from a file after a restart', async (t) => {
    const {SVC_SPEECH_CACHE_DIR: before} = process.env
    process.env.SVC_SPEECH_CACHE_DIR = join(folder, 'cache')
    t.after(() => {
      if (before === undefined) delete process.env.SVC_SPEECH_CACHE_DIR
      else process.env.SVC_SPEECH_CACHE_DIR = before
    })
    const head = range(0, 200)
    const run = async (...ends: readonly (readonly number[])[]) => {
      const model = await loadLanguageModel(folder, {threads: 1, numCtx: 0, prefixBytes: 1e7, prefixFileBytes: 1e8})
      const found: GenerateSummary[] = []
      for (const end of ends) found.push(await summaryOf(model, ask([...head, ...end])))
      await model.idle()
      await model.release()
      return {counters: model.counters, found}
    }
    const {counters} = await run(range(1, 20), range(2, 20), range(3, 20))
    assert.equal(counters.get('prefixFilesWritten'), 1)
    const {found, counters: later} = await run(range(4, 20))
    assert.deepEqual([later.get('prefixFilesRead'), found[0]?.cachedTokens], [1, head.length])
    const plain = await loadModel(t, folder, {})
    assert.deepEqual(found[0]?.tokens, await tokensOf(plain, ask([...head, ...range(4, 20)])))
  })
})
