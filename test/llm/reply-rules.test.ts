import assert from 'node:assert/strict'
import {before, describe, it, type TestContext} from 'node:test'
import type {GenerateRequest} from '../../src/llm/index.js'
import {readReplyRules} from '../../src/llm/reply-rules-config.js'
import {createSampler, defaultSampling, repetitionPenalty, replyRules} from '../../src/sampling/index.js'
import {temporaryFolder, writeFiles} from '../support/temporary.js'
import {tinyModelFiles} from '../support/tiny-model.js'
import {loadModel} from './load-model.js'

const prompt = [72, 101, 108]
const length = 12
const folders = {path: 'run', basePath: 'base'}
const request: GenerateRequest = {
  prompt: {kind: 'tokens', tokens: prompt},
  maxTokens: length,
  stop: [],
  sampling: {...defaultSampling, temperature: 0},
}

/** The reply of a tiny model with these generation settings. */
async function reply(test: Pick<TestContext, 'after'>, generation: object, changes: Partial<GenerateRequest> = {}) {
  const folder = await temporaryFolder(test)
  const file = JSON.stringify({eos_token_id: 256, ...generation})
  await writeFiles(folder, {...tinyModelFiles(), 'generation_config.json': file})
  const model = await loadModel(test, folder, {numCtx: 64})
  const wanted = {...request, ...changes}
  const given = model.encode(wanted).length
  for await (const event of model.generate(wanted))
    if (event.type === 'done') return {tokens: event.tokens.slice(given), reason: event.finishReason}
  throw new Error('There is no summary.')
}

describe('the generation_config.json of a model', () => {
  let plain: number[] = []
  before(async () => {
    const ends: (() => unknown)[] = []
    plain = (await reply({after: (end) => ends.unshift(end as () => unknown)}, {})).tokens
    for (const end of ends) await end()
    assert.equal(plain.length, length)
  })

  it('suppresses tokens', async (test) => {
    const [first = 0, second = 0] = plain
    const {tokens} = await reply(test, {suppress_tokens: [first, second, 9999]})
    assert.ok(tokens.length > 0 && !tokens.includes(first) && !tokens.includes(second), tokens.join())
  })

  it('suppresses tokens at the start of a reply only', async (test) => {
    const [first = 0, second = 0] = plain
    const {tokens} = await reply(test, {begin_suppress_tokens: [first]})
    assert.notEqual(tokens[0], first)
    const after = await reply(test, {begin_suppress_tokens: [second]})
    assert.deepEqual(after.tokens, plain)
  })

  it('bans sequences of tokens, also those that the prompt begins', async (test) => {
    const [first = 0, second = 0, third = 0] = plain
    const {tokens} = await reply(test, {bad_words_ids: [[first, second], [9999, third], [256]]})
    assert.equal(tokens[0], first)
    assert.notEqual(tokens[1], second)
    assert.notEqual((await reply(test, {bad_words_ids: [[101, 108, first]]})).tokens[0], first)
    assert.deepEqual((await reply(test, {bad_words_ids: [[101, first]]})).tokens, plain)
  })

  it('sets a minimum length, of the reply or with the prompt', async (test) => {
    const ends = {eos_token_id: plain[2]}
    const until = plain.indexOf(plain[2] as number)
    assert.deepEqual(await reply(test, ends), {tokens: plain.slice(0, until), reason: 'stop'})
    const replies = [
      await reply(test, {...ends, min_new_tokens: 6}),
      await reply(test, {...ends, min_length: prompt.length + 6}),
    ]
    for (const {tokens} of replies) assert.ok(tokens.length >= 6 && !tokens.slice(0, 6).includes(plain[2] as number))
    assert.deepEqual(replies[0], replies[1])
    // The number of new tokens precedes the length, and a length that the prompt has already demands nothing.
    for (const config of [{min_new_tokens: 0, min_length: 60}, {min_length: prompt.length}])
      assert.deepEqual((await reply(test, {...ends, ...config})).tokens, plain.slice(0, until))
  })

  it('forces the end token if the reply reaches its maximum length', async (test) => {
    for (const forced of [256, [256, 256]])
      assert.deepEqual(await reply(test, {forced_eos_token_id: forced}), {
        tokens: plain.slice(0, length - 1),
        reason: 'stop',
      })
  })

  it('forces the first token after a prompt of one token', async (test) => {
    const config = {forced_bos_token_id: 65}
    const one = {prompt: {kind: 'tokens', tokens: [72]}} as const
    assert.equal((await reply(test, config, one)).tokens[0], 65)
    assert.deepEqual((await reply(test, config)).tokens, plain)
  })

  it('penalises repetition in prompt and reply, unless the request has its own penalty', async (test) => {
    const config = {repetition_penalty: 1.8}
    const sampling = (repeatPenalty: number) => ({
      sampling: {...request.sampling, repeatPenalty, repeatLastN: -1},
    })
    const {tokens} = await reply(test, config)
    assert.notDeepEqual(tokens, plain)
    assert.deepEqual(tokens, (await reply(test, {}, sampling(1.8))).tokens)
    assert.deepEqual((await reply(test, config, sampling(1))).tokens, plain)
  })

  it('is rejected if a value is invalid', () => {
    const invalid: readonly [object, RegExp][] = [
      [{suppress_tokens: ['a']}, /suppress_tokens must be a token id or a list of them, not \["a"\]/],
      [{bad_words_ids: [5]}, /bad_words_ids must be a list of lists of token ids, not \[5\]/],
      [{bad_words_ids: [[]]}, /bad_words_ids/],
      [{min_new_tokens: -1}, /min_new_tokens must be an integer of at least 0, not -1/],
      [{repetition_penalty: 0}, /repetition_penalty must be a number above 0, not 0/],
      [{forced_eos_token_id: 1.5}, /forced_eos_token_id/],
    ]
    for (const [config, reason] of invalid)
      assert.throws(() => readReplyRules(config as Record<string, unknown>, folders), {
        code: 'model_file_invalid',
        message: reason,
      })
  })

  it('demands nothing without these keys, with null or with neutral values', () => {
    const bounds = {promptTokens: 3, limit: 5, endTokens: new Set([256])}
    for (const config of [
      {},
      {suppress_tokens: null, min_length: 0, repetition_penalty: 1, bad_words_ids: [[256]], forced_eos_token_id: null},
    ]) {
      const rules = readReplyRules(config, folders)
      assert.deepEqual([...replyRules(rules, bounds), ...repetitionPenalty(rules)], [])
    }
  })
})

describe('the rules of a model', () => {
  it('precede what a request forces', () => {
    const rules = readReplyRules({forced_eos_token_id: 2}, folders)
    const processors = replyRules(rules, {promptTokens: 1, limit: 1, endTokens: new Set([2])})
    const sample = createSampler({...defaultSampling, temperature: 0, logitBias: {0: 100}}, processors)
    assert.equal(sample(Float32Array.of(1, 2, 3), [7]), 2)
  })
})
