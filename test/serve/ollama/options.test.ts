import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {Fields} from '../../../src/serve/body.js'
import {type OllamaOptions, readOptions} from '../../../src/serve/ollama/options.js'
import {fieldsOf} from '../../../src/serve/request-fields.js'
import {defaults, refusal} from '../samples.js'

const read = (options: unknown) => readOptions(Fields.ofBody({options}, fieldsOf('/api/chat')), defaults)

const unsaid: OllamaOptions = {
  sampling: {
    temperature: 0.7,
    topK: 40,
    topP: 0.9,
    minP: 0,
    seed: 99,
    repeatPenalty: undefined,
    presencePenalty: 0,
    frequencyPenalty: 0,
    repeatLastN: 64,
    logitBias: {},
  },
  maxTokens: 512,
  stop: [],
  numCtx: 8192,
  unknown: [],
}

describe('readOptions', () => {
  for (const options of [undefined, null, {}])
    it(`uses the defaults for ${JSON.stringify(options)}`, () => assert.deepEqual(read(options), unsaid))

  it('requires an object', () =>
    assert.throws(() => read([]), refusal('bad_request', 'options must be of type object', 'options')))

  const sampling: [name: string, value: unknown, Partial<OllamaOptions['sampling']>][] = [
    ['temperature', 0, {temperature: 0}],
    ['temperature', 1.5, {temperature: 1.5}],
    ['top_p', 0.5, {topP: 0.5}],
    ['min_p', 0.05, {minP: 0.05}],
    ['top_k', 1, {topK: 1}],
    ['top_k', 0, {topK: 0}],
    ['top_k', -1, {topK: 0}],
    ['repeat_penalty', 1.1, {repeatPenalty: 1.1}],
    ['presence_penalty', 1.5, {presencePenalty: 1.5}],
    ['frequency_penalty', -0.5, {frequencyPenalty: -0.5}],
    ['repeat_last_n', 0, {repeatLastN: 0}],
    ['repeat_last_n', -1, {repeatLastN: -1}],
    ['seed', 42, {seed: 42}],
    ['seed', 0, {seed: 0}],
    ['seed', -1, {seed: 99}],
    ['seed', -2, {seed: 0xffff_fffe}],
    ['seed', 2 ** 32 + 5, {seed: 5}],
  ]
  for (const [name, value, expected] of sampling)
    it(`reads ${name} ${value}`, () =>
      assert.deepEqual(read({[name]: value}), {...unsaid, sampling: {...unsaid.sampling, ...expected}}))

  const others: [name: string, value: unknown, Partial<OllamaOptions>][] = [
    ['num_predict', 7, {maxTokens: 7}],
    ['num_predict', 0, {maxTokens: 512}],
    ['num_predict', -1, {maxTokens: undefined}],
    ['num_predict', -2, {maxTokens: undefined}],
    ['num_ctx', 100_000, {numCtx: 100_000}],
    ['num_keep', 5, {}],
    ['stop', 'a', {stop: ['a']}],
    ['stop', ['a', 'b'], {stop: ['a', 'b']}],
    ['stop', Array(64).fill('x'.repeat(1000)), {stop: Array(64).fill('x'.repeat(1000))}],
    ['flux', 3, {unknown: ['options.flux']}],
    ['constructor', 3, {unknown: ['options.constructor']}],
  ]
  for (const [name, value, expected] of others)
    it(`accepts ${name} ${JSON.stringify(value).slice(0, 20)}`, () =>
      assert.deepEqual(read({[name]: value}), {...unsaid, ...expected}))

  it('ignores null values', () => {
    const names = ['temperature', 'top_k', 'seed', 'stop', 'num_predict', 'num_ctx', 'num_keep', 'repeat_last_n']
    assert.deepEqual(read(Object.fromEntries(names.map((name) => [name, null]))), unsaid)
  })

  it('accepts options of other engines without effect', () =>
    assert.deepEqual(
      read({
        ...{typical_p: 1, tfs_z: 1, mirostat: 0, mirostat_tau: 5, mirostat_eta: 0.1, penalize_newline: true},
        ...{numa: false, num_batch: 2, num_gpu: 1, main_gpu: 0, low_vram: false, f16_kv: true, logits_all: false},
        ...{vocab_only: false, use_mmap: true, use_mlock: false, embedding_only: false, num_thread: 8},
        ...{draft_num_predict: 3},
      }),
      unsaid,
    ))

  for (const name of ['top_k', 'num_predict', 'seed', 'repeat_last_n', 'num_ctx', 'num_keep'])
    for (const value of ['5', 1.5, true, Number.NaN, Infinity, []])
      it(`rejects ${name} ${value} (${typeof value}), which is not an integer`, () =>
        assert.throws(
          () => read({[name]: value}),
          refusal('bad_request', `option "${name}" must be of type integer`, `options.${name}`),
        ))

  const numbers = ['temperature', 'top_p', 'min_p', 'repeat_penalty', 'presence_penalty', 'frequency_penalty']
  for (const name of numbers)
    for (const value of ['0.5', true, Number.NaN, Infinity, -Infinity, {}])
      it(`rejects ${name} ${value} (${typeof value}), which is not a number`, () =>
        assert.throws(
          () => read({[name]: value}),
          refusal('bad_request', `option "${name}" must be of type number`, `options.${name}`),
        ))

  const beyond: [name: string, value: unknown, must: string][] = [
    ['temperature', -0.1, 'be at least 0'],
    ['top_p', 1.1, 'be between 0 and 1'],
    ['top_p', -0.1, 'be between 0 and 1'],
    ['min_p', 2, 'be between 0 and 1'],
    ['repeat_penalty', 0, 'be between 0.01 and 100'],
    ['presence_penalty', 1e308, 'be between -100 and 100'],
    ['frequency_penalty', -101, 'be between -100 and 100'],
    ['repeat_last_n', -2, 'be at least -1'],
    ['num_predict', -3, 'be at least -2'],
    ['num_ctx', 0, 'be at least 1'],
    ['stop', 5, 'be of type string or list of strings'],
    ['stop', ['a', 5], 'be of type string or list of strings'],
    ['stop', Array(65).fill('a'), 'have at most 64 items'],
    ['stop', 'x'.repeat(1001), 'have at most 1000 characters each'],
  ]
  for (const [name, value, must] of beyond)
    it(`rejects ${name} ${JSON.stringify(value).slice(0, 20)}: must ${must}`, () =>
      assert.throws(
        () => read({[name]: value}),
        refusal('bad_request', `option "${name}" must ${must}`, `options.${name}`),
      ))
})
