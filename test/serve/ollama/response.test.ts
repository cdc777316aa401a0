import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import * as reply from '../../../src/serve/ollama/response.js'
import {logprobs, summaryOf} from '../samples.js'

const head = {model: 'my-run', createdAt: '2026-01-05T10:11:12.345Z'}
const later = {model: 'my-run', createdAt: '2026-01-05T10:11:13.001Z'}
const times = {totalMs: 912.345678, loadMs: 1.2}

const writtenLogprobs = [
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
]

describe('the response to POST /api/chat', () => {
  const end = {summary: summaryOf(), ...times}

  it('streams the specified objects byte for byte', () => {
    assert.equal(
      JSON.stringify(reply.chatChunk(head, {text: 'Hel'})),
      '{"model":"my-run","created_at":"2026-01-05T10:11:12.345Z","message":{"role":"assistant","content":"Hel"},"done":false}',
    )
    assert.equal(
      JSON.stringify(reply.chatEnd(later, end)),
      '{"model":"my-run","created_at":"2026-01-05T10:11:13.001Z","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","total_duration":912345678,"load_duration":1200000,"prompt_eval_count":21,"prompt_eval_duration":210000000,"eval_count":48,"eval_duration":690000000}',
    )
  })

  it('includes the text without streaming', () =>
    assert.deepEqual(reply.chatEnd(later, {...end, reply: {text: 'Hello'}}), {
      ...reply.chatEnd(later, end),
      message: {role: 'assistant', content: 'Hello'},
    }))

  it('includes logprobs if requested', () => {
    assert.deepEqual(reply.chatChunk(head, {text: 'He', logprobs}), {
      ...reply.chatChunk(head, {text: 'He'}),
      logprobs: writtenLogprobs,
    })
    assert.deepEqual(reply.chatEnd(later, {...end, reply: {text: 'He', logprobs}}), {
      ...reply.chatEnd(later, {...end, reply: {text: 'He'}}),
      logprobs: writtenLogprobs,
    })
  })

  it('includes no alternatives if none were requested', () => {
    const [first] = logprobs.map((token) => ({...token, top: []}))
    assert.ok(first)
    assert.deepEqual(reply.chatChunk(head, {text: 'He', logprobs: [first]}).logprobs, [
      {token: 'He', logprob: -0.12, bytes: [72, 101]},
    ])
  })

  it('is one object without messages', () =>
    assert.deepEqual(reply.chatLoaded(head, 'unload'), {
      model: 'my-run',
      created_at: '2026-01-05T10:11:12.345Z',
      message: {role: 'assistant', content: ''},
      done: true,
      done_reason: 'unload',
    }))
})

describe('the response to POST /api/generate', () => {
  const summary = summaryOf({finishReason: 'length', promptTokens: 3, completionTokens: 512, prefillMs: 21})
  const end = {summary, ...times}

  it('streams the specified objects byte for byte', () => {
    assert.equal(
      JSON.stringify(reply.generateChunk(head, {text: 'Hel'})),
      '{"model":"my-run","created_at":"2026-01-05T10:11:12.345Z","response":"Hel","done":false}',
    )
    assert.equal(
      JSON.stringify(reply.generateEnd(later, end, {raw: false})),
      '{"model":"my-run","created_at":"2026-01-05T10:11:13.001Z","response":"","done":true,"done_reason":"length","context":[151644,872,198],"total_duration":912345678,"load_duration":1200000,"prompt_eval_count":3,"prompt_eval_duration":21000000,"eval_count":512,"eval_duration":690000000}',
    )
  })

  it('includes the text and its logprobs without streaming', () =>
    assert.deepEqual(reply.generateEnd(later, {...end, reply: {text: 'He', logprobs}}, {raw: false}), {
      ...reply.generateEnd(later, end, {raw: false}),
      response: 'He',
      logprobs: writtenLogprobs,
    }))

  it('includes logprobs in its chunks', () =>
    assert.deepEqual(reply.generateChunk(head, {text: 'He', logprobs}).logprobs, writtenLogprobs))

  it('has no context for a raw prompt', () =>
    assert.equal('context' in reply.generateEnd(later, end, {raw: true}), false))

  it('has durations in integer nanoseconds', () => {
    const {total_duration, eval_duration} = reply.generateEnd(
      later,
      {summary: summaryOf({decodeMs: 0.000_000_4}), totalMs: 1 / 3, loadMs: 0},
      {raw: false},
    )
    assert.deepEqual([total_duration, eval_duration], [333_333, 0])
  })

  it('is the specified object without a prompt', () =>
    assert.equal(
      JSON.stringify(reply.generateLoaded(head, 'load')),
      '{"model":"my-run","created_at":"2026-01-05T10:11:12.345Z","response":"","done":true,"done_reason":"load"}',
    ))
})
