import assert from 'node:assert/strict'
import {after, before, describe, it} from 'node:test'
import type {GenerateEvent, GenerateRequest, GenerateSummary, LanguageModel} from '../../src/llm/index.js'
import {loadLanguageModel} from '../../src/llm/language-model.js'
import type {LoadOptions} from '../../src/llm/load-options.js'
import {defaultSampling, type SamplingOptions} from '../../src/sampling/index.js'
import {sharedData, skipWithout} from '../support/project.js'
import {suiteFolder, temporaryFolder, writeFiles} from '../support/temporary.js'
import {writeTinyModel} from '../support/tiny-model.js'
import {loadModel} from './load-model.js'
import {boundedSchemas, checkReplies} from './support/schema-campaign.js'

type Changes = Partial<Omit<GenerateRequest, 'sampling'>> & {sampling?: Partial<SamplingOptions>}

const request = ({sampling, ...changes}: Changes): GenerateRequest => ({
  prompt: {kind: 'raw', text: 'Say'},
  maxTokens: 100,
  stop: [],
  sampling: {...defaultSampling, temperature: 1.5, topK: 0, topP: 1, ...sampling},
  ...changes,
})

interface Reply {
  text: string
  events: GenerateEvent[]
  summary: GenerateSummary
}

async function replyOf(model: LanguageModel, asked: GenerateRequest): Promise<Reply> {
  const events: GenerateEvent[] = []
  for await (const event of model.generate(asked)) events.push(event)
  const text = events.map((event) => (event.type === 'text' ? event.text : '')).join('')
  return {text, events, summary: events.at(-1) as GenerateSummary & GenerateEvent}
}

const seeds = Array.from({length: 20}, (_, seed) => seed)
const choiceOf = (...choices: string[]): Changes => ({format: {kind: 'choice', choices}})

/** A model with a token per byte. */
describe('a reply with a format', () => {
  const folder = suiteFolder()
  let model: LanguageModel
  before(async () => {
    await writeTinyModel(folder, {contextLength: 512})
    await writeFiles(folder, {'generation_config.json': '{"eos_token_id": 256}'})
    model = await loadLanguageModel(folder, {threads: 1, numCtx: 0})
  })
  after(() => model.release())

  it('matches it, whatever the seed, and ends where nothing may follow', async () => {
    const choices = ['yes', 'no', 'maybe', 'yesterday', '日本語', '日本酒']
    const found = new Set<string>()
    for (const seed of seeds) {
      const {text, summary} = await replyOf(model, request({...choiceOf(...choices), sampling: {seed}}))
      assert.ok(choices.includes(text), text)
      assert.equal(summary.finishReason, 'stop')
      assert.equal(summary.completionTokens, Buffer.byteLength(text))
      found.add(text)
    }
    assert.ok(found.size > 1)
  })

  it('may continue if a longer text matches, and may end before', async () => {
    const ended = await replyOf(model, request({...choiceOf('ab', 'abc'), sampling: {logitBias: {256: 50}}}))
    assert.deepEqual([ended.text, ended.summary.finishReason], ['ab', 'stop'])
    const longer = await replyOf(model, request({...choiceOf('ab', 'abc'), sampling: {logitBias: {99: 50}}}))
    assert.deepEqual([longer.text, longer.summary.finishReason], ['abc', 'stop'])
  })

  it('matches it with any bias and penalty', async () => {
    for (const sampling of [
      {logitBias: {90: 100}},
      {logitBias: {90: 99, 121: -99}},
      {presencePenalty: 100, repeatPenalty: 50},
      {temperature: 0, logitBias: {256: 100}},
      {topK: 1},
    ]) {
      const {text} = await replyOf(model, request({...choiceOf('yyyyy', 'yes', 'no'), sampling}))
      assert.ok(['yyyyy', 'yes', 'no'].includes(text), `${JSON.stringify(sampling)}: ${text}`)
    }
  })

  it('is an error if the bias bans all tokens that may follow', async () => {
    const banned = request({...choiceOf('yes', 'no'), sampling: {logitBias: {121: -100, 110: -100}}})
    await assert.rejects(replyOf(model, banned), {
      code: 'bad_request',
      message: 'logit_bias bans every token that the format of the reply allows',
    })
  })

  it('is the beginning of a match if it is truncated', async () => {
    const {text, summary} = await replyOf(model, request({...choiceOf('abcdefgh', 'abcdexyz'), maxTokens: 4}))
    assert.deepEqual([text, summary.finishReason, summary.completionTokens], ['abcd', 'length', 4])
  })

  it('ends where nothing may follow, also before the minimum length of the model', async (t) => {
    const own = await temporaryFolder(t)
    await writeTinyModel(own)
    await writeFiles(own, {'generation_config.json': '{"eos_token_id": 256, "min_new_tokens": 40}'})
    const {text, summary} = await replyOf(await loadModel(t, own, {}), request(choiceOf('ab', 'abc')))
    assert.deepEqual([text, summary.finishReason], ['abc', 'stop'])
  })

  it('is complete at its maximum length', async () => {
    const {text, summary} = await replyOf(model, request({...choiceOf('abcd', 'wxyz'), maxTokens: 4}))
    assert.ok(['abcd', 'wxyz'].includes(text))
    assert.equal(summary.finishReason, 'stop')
  })

  it('is truncated by a stop string unless it matches without it', async () => {
    const cut = await replyOf(model, request({...choiceOf('abXcd', 'abXyz'), stop: ['X']}))
    assert.deepEqual([cut.text, cut.summary.finishReason], ['ab', 'length'])
    const whole = await replyOf(
      model,
      request({...choiceOf('ab', 'abX'), stop: ['X'], sampling: {logitBias: {88: 50}}}),
    )
    assert.deepEqual([whole.text, whole.summary.finishReason], ['ab', 'stop'])
  })

  it('is only the prompt with 0 tokens', async () => {
    const {text, summary} = await replyOf(model, request({...choiceOf('a', 'b'), maxTokens: 0}))
    assert.deepEqual([text, summary.finishReason], ['', 'length'])
  })

  it('is empty if only that matches', async () => {
    const {text, summary} = await replyOf(model, request(choiceOf('')))
    assert.deepEqual([text, summary.finishReason], ['', 'stop'])
  })

  it('needs few runs for text that must follow', async () => {
    const text = 'The only possible answer has many words.'
    const runs = model.counters.get('graphRuns')
    const reply = await replyOf(model, request(choiceOf(text)))
    assert.deepEqual([reply.text, reply.summary.completionTokens], [text, text.length])
    assert.equal(model.counters.get('graphRuns') - runs, 1)
    const between = model.counters.get('graphRuns')
    const others = ['x', 'y'].map((letter) => `It is ${letter}, and that is all.`)
    assert.ok(others.includes((await replyOf(model, request(choiceOf(...others)))).text))
    assert.equal(model.counters.get('graphRuns') - between, 2)
  })

  it('has the log-probabilities of the model without the format', async () => {
    const asked = {...choiceOf('It is x.', 'It is y.'), sampling: {temperature: 0}}
    const {text, events} = await replyOf(model, request({...asked, topLogprobs: 2}))
    assert.equal(text, (await replyOf(model, request(asked))).text)
    const own = events.flatMap((event) => (event.type === 'text' ? (event.logprobs ?? []) : []))
    assert.equal(own.map(({token}) => token).join(''), text)
    const scored = await replyOf(
      model,
      request({prompt: {kind: 'raw', text: `Say${text}`}, maxTokens: 0, echo: true, topLogprobs: 2}),
    )
    const [prompt] = scored.events
    assert.ok(prompt?.type === 'prompt')
    const expected = prompt.logprobs?.slice(-text.length) ?? []
    for (const [i, {token, logprob, top}] of own.entries()) {
      assert.equal(token, expected[i]?.token)
      assert.ok(Math.abs(logprob - (expected[i]?.logprob ?? 0)) < 1e-3, `${i}: ${logprob}`)
      assert.equal(top[0]?.token, expected[i]?.top?.[0]?.token)
    }
  })
})

const stories = 'Once upon a time there was a dog. '

/** Requests with and without a format, of which some share the beginning of their prompt. */
function mixedRequests(): GenerateRequest[] {
  const formats: Changes[] = [
    {},
    choiceOf('The dog was happy.', 'The dog was sad.', 'The cat was happy, too.'),
    choiceOf(...Array.from({length: 40}, (_, i) => `${stories}It had ${i} balls.`)),
  ]
  return Array.from({length: 18}, (_, i) =>
    request({
      prompt: {kind: 'raw', text: `${stories.repeat(1 + (i % 4))}${i % 2 === 0 ? '' : 'One day'}`},
      maxTokens: 10 + i,
      sampling: {temperature: i % 3 === 0 ? 0 : 1, seed: i},
      ...formats[i % formats.length],
    }),
  )
}

describe('a reply with a format has the same tokens', {skip: skipWithout('stories260K')}, () => {
  const folder = sharedData('stories260K') ?? ''
  const options: readonly (readonly [string, Partial<LoadOptions>])[] = [
    ['f32', {precision: 'f32'}],
    ['w8', {precision: 'w8'}],
    ['w4', {precision: 'w4'}],
    ['f32 with prompt lookup and saved prefixes', {promptLookup: true, prefixBytes: 100_000_000}],
  ]
  for (const [name, load] of options)
    it(`alone and in a batch: ${name}`, async (t) => {
      const {precision = 'f32'} = load
      const plain = await loadModel(t, folder, {precision, promptLookup: false})
      const requests = mixedRequests()
      const expected: Reply[] = []
      for (const asked of requests) expected.push(await replyOf(plain, asked))
      const model = await loadModel(t, folder, {...load, slots: 5})
      for (let round = 0; round < 2; round++) {
        const replies = await Promise.all(requests.map((asked) => replyOf(model, asked)))
        for (const [i, {text, summary}] of replies.entries())
          assert.deepEqual([text, summary.tokens], [expected[i]?.text, expected[i]?.summary.tokens], `request ${i}`)
      }
    })

  it('and is valid for its schema', async (t) => {
    const model = await loadModel(t, folder, {slots: 10, promptLookup: true, prefixBytes: 100_000_000})
    const ended = await checkReplies(model, boundedSchemas(4, 1), {seeds: 4, maxTokens: 120})
    assert.ok(ended > 0.5, `${ended}`)
  })

  it('and needs few runs for text that must follow, although the tokenizer adds a space to texts', async (t) => {
    const model = await loadModel(t, folder, {})
    const text = '{"name": "Tim was happy. He saw a big red ball."}'
    const {text: reply, summary} = await replyOf(model, request(choiceOf(text)))
    assert.equal(reply, text)
    assert.ok(summary.completionTokens > 10)
    assert.equal(model.counters.get('graphRuns'), 1)
  })

  it('and all of its spaces at the start of a text', async (t) => {
    const model = await loadModel(t, folder, {})
    for (const choice of [' Once', 'Once', '  Once'])
      assert.equal((await replyOf(model, request({prompt: {kind: 'beginning'}, ...choiceOf(choice)}))).text, choice)
  })
})
