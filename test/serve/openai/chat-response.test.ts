import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {chatCompletion, chatDelta, chatEnd, chatOpening, chatUsage} from '../../../src/serve/openai/chat-response.js'
import {logprobs, summaryOf} from '../samples.js'

const head = {
  id: 'chatcmpl-5f3c',
  created: 1_767_607_872,
  model: 'my-run',
  systemFingerprint: 'svc1:base=9f86',
}
const summary = summaryOf({completionTokens: 2})
const writtenLogprobs = {
  content: [
    {
      token: 'He',
      logprob: -0.12,
      bytes: [72, 101],
      top_logprobs: [
        {token: 'He', logprob: -0.12, bytes: [72, 101]},
        {token: 'A', logprob: -2.5, bytes: [65]},
      ],
    },
    {token: '\ufffd', logprob: -0.5, bytes: [0xc3], top_logprobs: [{token: '\ufffd', logprob: -0.5, bytes: [0xc3]}]},
  ],
  refusal: null,
}

describe('a chat completion', () => {
  it('matches the specification byte for byte', () =>
    assert.equal(
      JSON.stringify(chatCompletion(head, [{text: 'Hello', summary}])),
      '{"id":"chatcmpl-5f3c","object":"chat.completion","created":1767607872,"model":"my-run","system_fingerprint":"svc1:base=9f86","choices":[{"index":0,"message":{"role":"assistant","content":"Hello","refusal":null},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":21,"completion_tokens":2,"total_tokens":23}}',
    ))

  it('counts the prompt once and the tokens of all choices', () => {
    const {choices, usage} = chatCompletion(head, [
      {text: 'Hello', summary},
      {text: 'Hi', summary: summaryOf({completionTokens: 5, finishReason: 'length'})},
    ])
    assert.deepEqual(usage, {prompt_tokens: 21, completion_tokens: 7, total_tokens: 28})
    assert.deepEqual(
      choices.map(({index, finish_reason}) => [index, finish_reason]),
      [
        [0, 'stop'],
        [1, 'length'],
      ],
    )
  })

  it('includes logprobs if requested', () =>
    assert.deepEqual(chatCompletion(head, [{text: 'He', logprobs, summary}]).choices[0]?.logprobs, writtenLogprobs))

  it('has an empty list of alternatives if none were requested', () => {
    const bare = logprobs.slice(0, 1).map((token) => ({...token, top: []}))
    assert.deepEqual(chatCompletion(head, [{text: 'He', logprobs: bare, summary}]).choices[0]?.logprobs, {
      content: [{token: 'He', logprob: -0.12, bytes: [72, 101], top_logprobs: []}],
      refusal: null,
    })
  })
})

describe('a stream of chat completion chunks', () => {
  const begin =
    '{"id":"chatcmpl-5f3c","object":"chat.completion.chunk","created":1767607872,"model":"my-run","system_fingerprint":"svc1:base=9f86",'
  const chunks = (includeUsage: boolean) => {
    const stream = {...head, includeUsage}
    return [chatOpening(stream, 0), chatDelta(stream, 0, {text: 'Hel'}), chatEnd(stream, 0, summary)]
  }
  const choices = [
    '"choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]',
    '"choices":[{"index":0,"delta":{"content":"Hel"},"logprobs":null,"finish_reason":null}]',
    '"choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}]',
  ]

  it('matches the specification byte for byte', () =>
    assert.deepEqual(
      chunks(false).map((chunk) => JSON.stringify(chunk)),
      choices.map((choice) => `${begin}${choice}}`),
    ))

  it('has a usage of null in all but the last chunk with include_usage', () => {
    assert.deepEqual(
      chunks(true).map((chunk) => JSON.stringify(chunk)),
      choices.map((choice) => `${begin}${choice},"usage":null}`),
    )
    assert.equal(
      JSON.stringify(chatUsage({...head, includeUsage: true}, [summary])),
      `${begin}"choices":[],"usage":{"prompt_tokens":21,"completion_tokens":2,"total_tokens":23}}`,
    )
  })

  it('includes logprobs and the index of the choice', () => {
    const {choices} = chatDelta({...head, includeUsage: false}, 3, {text: 'He', logprobs})
    assert.deepEqual(choices, [{index: 3, delta: {content: 'He'}, logprobs: writtenLogprobs, finish_reason: null}])
  })
})
