import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {
  charactersIn,
  completion,
  completionDelta,
  completionEnd,
  completionPrompt,
  completionUsage,
} from '../../../src/serve/openai/completion-response.js'
import {logprobs, summaryOf} from '../samples.js'

const head = {id: 'cmpl-5f3c', created: 1_767_607_872, model: 'my-run', systemFingerprint: 'svc1:base=9f86'}
const heading = {
  id: 'cmpl-5f3c',
  object: 'text_completion',
  created: 1_767_607_872,
  model: 'my-run',
  system_fingerprint: 'svc1:base=9f86',
}
const summary = summaryOf({completionTokens: 2, finishReason: 'length'})
const usage = {prompt_tokens: 21, completion_tokens: 2, total_tokens: 23}
const columns = {
  tokens: ['He', '\ufffd'],
  token_logprobs: [-0.12, -0.5],
  top_logprobs: [{He: -0.12, A: -2.5}, {'\ufffd': -0.5}],
  text_offset: [0, 2],
}

describe('a text completion', () => {
  it('has choices and usage', () =>
    assert.deepEqual(completion(head, [{text: ' upon', summary}]), {
      ...heading,
      choices: [{text: ' upon', index: 0, logprobs: null, finish_reason: 'length'}],
      usage,
    }))

  it('counts the tokens of all choices', () =>
    assert.deepEqual(
      completion(
        head,
        [1, 2, 3].map((count) => ({text: '', summary: summaryOf({completionTokens: count})})),
      ).usage,
      {
        prompt_tokens: 21,
        completion_tokens: 6,
        total_tokens: 27,
      },
    ))

  it('counts each of several prompts once', () => {
    const summaries = [1, 1, 2, 2].map((promptTokens) => summaryOf({promptTokens, completionTokens: 10}))
    const counted = {prompt_tokens: 3, completion_tokens: 40, total_tokens: 43}
    const choices = summaries.map((summary) => ({text: '', summary}))
    assert.deepEqual(completion(head, choices, 2).usage, counted)
    assert.deepEqual(completionUsage({...head, includeUsage: true}, summaries, 2).usage, counted)
  })

  const tokenOf = (token: string, bytes: Iterable<number> = Buffer.from(token)) => ({token, bytes: [...bytes]})
  const prompt = {
    text: 'Zoë is',
    logprobs: [
      {...tokenOf('<s>'), logprob: null, top: null},
      {...tokenOf(' Zo'), logprob: -1, top: [{...tokenOf('A'), logprob: -0.5}]},
      {...tokenOf('\ufffd', [0xc3]), logprob: -2, top: [{...tokenOf('B'), logprob: -0.25}]},
      {...tokenOf('\ufffd', [0xab]), logprob: -2, top: []},
      {...tokenOf(' is'), logprob: -3, top: []},
    ],
  }
  const promptColumns = {
    tokens: ['<s>', ' Zo', '\ufffd', '\ufffd', ' is'],
    token_logprobs: [null, -1, -2, -2, -3],
    top_logprobs: [null, {A: -0.5}, {B: -0.25}, {}, {}],
    text_offset: [0, 0, 2, 3, 3],
  }

  it('starts with the prompt with echo; its first token has no log-probability', () => {
    const whole = completion(head, [{prompt, text: 'He', logprobs, summary}]).choices[0]
    assert.deepEqual(whole?.text, 'Zoë isHe')
    assert.deepEqual(whole?.logprobs, {
      tokens: [...promptColumns.tokens, ...columns.tokens],
      token_logprobs: [...promptColumns.token_logprobs, ...columns.token_logprobs],
      top_logprobs: [...promptColumns.top_logprobs, ...columns.top_logprobs],
      text_offset: [...promptColumns.text_offset, 6, 8],
    })
  })

  it('is only the prompt with echo and 0 tokens', () => {
    assert.deepEqual(completion(head, [{prompt, text: '', summary}]).choices[0]?.logprobs, promptColumns)
    const bare = completion(head, [{prompt: {text: 'Zoë'}, text: '', summary}]).choices[0]
    assert.deepEqual([bare?.text, bare?.logprobs], ['Zoë', null])
  })

  it('streams the prompt first', () =>
    assert.deepEqual(completionPrompt({...head, includeUsage: false}, 1, prompt).choices, [
      {text: 'Zoë is', index: 1, logprobs: promptColumns, finish_reason: null},
    ]))

  it('has logprobs as parallel lists', () =>
    assert.deepEqual(completion(head, [{text: 'He', logprobs, summary}]).choices[0]?.logprobs, columns))

  it('has null alternatives if none were requested', () => {
    const bare = logprobs.map((token) => ({...token, top: []}))
    assert.deepEqual(completion(head, [{text: 'He', logprobs: bare, summary}]).choices[0]?.logprobs, {
      ...columns,
      top_logprobs: null,
    })
  })

  it('streams text, then the finish reason, then the usage', () => {
    const stream = {...head, includeUsage: true}
    assert.deepEqual(completionDelta(stream, 1, {text: ' upon'}, 0), {
      ...heading,
      choices: [{text: ' upon', index: 1, logprobs: null, finish_reason: null}],
      usage: null,
    })
    assert.deepEqual(completionEnd(stream, 1, summary), {
      ...heading,
      choices: [{text: '', index: 1, logprobs: null, finish_reason: 'length'}],
      usage: null,
    })
    assert.deepEqual(completionUsage(stream, [summary]), {...heading, choices: [], usage})
  })

  it('streams without usage if it was not requested', () => {
    const stream = {...head, includeUsage: false}
    assert.equal('usage' in completionDelta(stream, 0, {text: 'a'}, 0), false)
    assert.equal('usage' in completionEnd(stream, 0, summary), false)
  })

  it('streams logprobs with cumulative offsets', () => {
    const {choices} = completionDelta({...head, includeUsage: false}, 0, {text: 'He', logprobs}, 10)
    assert.deepEqual(choices[0]?.logprobs, {...columns, text_offset: [10, 12]})
  })

  it('counts a character that spans tokens once', () => {
    const bytes = [...Buffer.from('é€😀a')]
    assert.equal(charactersIn(bytes.map((byte) => ({token: '\ufffd', bytes: [byte], logprob: -1, top: []}))), 4)
  })
})
