import assert from 'node:assert/strict'
import {describe, it, type TestContext} from 'node:test'
import {setTimeout as sleep} from 'node:timers/promises'
import {SvcError} from '../../src/errors/index.js'
import {
  chat,
  defaultGenerationLimits,
  inferenceClient,
  resolveEndpoint,
  servedModels,
} from '../../src/inference-client/index.js'
import {type Answer, type ChatCall, callLines, chatLines, scriptedChat} from '../support/scripted-inference.js'
import {startServer} from '../support/server.js'
import {temporaryFolder} from '../support/temporary.js'
import {writeTinyModel} from '../support/tiny-model.js'

const messages = [
  {role: 'system', content: 'Be brief.'},
  {role: 'user', content: 'Name a prime number.'},
] as const
const request = {model: 'run-a', messages, temperature: 0.3, maxTokens: 64}
const unstopped = new AbortController().signal

function clientOf(test: TestContext, url: string) {
  const {endpoint} = resolveEndpoint({env: {SVC_INFERENCE_URL: url}})
  const client = inferenceClient(endpoint, {idleTimeoutMs: 60_000})
  test.after(() => client.close())
  return client
}

describe('chat', () => {
  it('sends the request and streams the answer', async (test) => {
    const server = await scriptedChat(test, (response) =>
      response.end(chatLines('Seven – 7 𝄞', {prompt_eval_count: 20, eval_count: 5})),
    )
    const pieces: string[] = []
    const answer = await chat(clientOf(test, server.baseUrl), request, unstopped, defaultGenerationLimits, {
      onDelta: (piece) => void pieces.push(piece),
    })
    assert.deepEqual(answer, {text: 'Seven – 7 𝄞', inputTokens: 20, outputTokens: 5, cutOff: false})
    assert.deepEqual(pieces, ['Seven ', '– ', '7 ', '𝄞'])
    assert.deepEqual(server.calls, [
      {model: 'run-a', messages, stream: true, options: {temperature: 0.3, num_predict: 64}},
    ])
  })

  it('sends top_p and format', async (test) => {
    const server = await scriptedChat(test, (response) => response.end(chatLines('{}', {done_reason: 'length'})))
    const {cutOff} = await chat(clientOf(test, server.baseUrl), {...request, topP: 0.5, format: 'json'}, unstopped)
    assert.equal(cutOff, true)
    const [call] = server.calls
    assert.deepEqual([call?.options.top_p, call?.format], [0.5, 'json'])
  })

  it('sends a regular expression in the field of svc serve', async (test) => {
    const server = await scriptedChat(test, (response) => response.end(chatLines('12')))
    await chat(clientOf(test, server.baseUrl), {...request, pattern: '[0-9]+'}, unstopped)
    const {guided_regex, format} = server.calls[0] as ChatCall & {guided_regex?: string}
    assert.deepEqual([guided_regex, format], ['[0-9]+', undefined])
  })

  it('accepts null members like absent ones', async (test) => {
    const server = await scriptedChat(test, (response) => {
      for (const content of ['', 'Se', '', 'ven'])
        response.write(`${JSON.stringify({message: {content}, done: false, error: null})}\n`)
      response.end(`${JSON.stringify({done: true, error: null, eval_count: null, prompt_eval_count: 3})}\n`)
    })
    const pieces: string[] = []
    const answer = await chat(clientOf(test, server.baseUrl), request, unstopped, defaultGenerationLimits, {
      onDelta: (piece) => void pieces.push(piece),
    })
    assert.deepEqual(answer, {text: 'Seven', inputTokens: 3, outputTokens: 0, cutOff: false})
    assert.deepEqual(pieces, ['Se', 'ven'])
  })

  it('works with svc serve', async (test) => {
    const folder = await temporaryFolder(test)
    await writeTinyModel(folder)
    const server = await startServer(['--model', folder, '--model-name', 'run-a'])
    test.after(() => server.stop())
    const client = clientOf(test, server.baseUrl)
    assert.deepEqual(await servedModels(client, unstopped), ['run-a'])
    const {text, inputTokens, outputTokens} = await chat(client, {...request, maxTokens: 8}, unstopped)
    assert.notEqual(text, '')
    assert.ok(inputTokens > 0 && outputTokens > 0)
  })

  it('sends tools, and returns the calls of them', async (test) => {
    const calls = [
      {name: 'weather', arguments: {city: 'Oslo'}},
      {name: 'weather', arguments: {city: 'Rome'}},
    ]
    const server = await scriptedChat(test, (response) => response.end(callLines(...calls)))
    const tool = {name: 'weather', description: 'Returns the weather', parameters: {type: 'object'}}
    const answer = await chat(clientOf(test, server.baseUrl), {...request, tools: [tool]}, unstopped)
    assert.deepEqual([answer.text, answer.calls], ['', calls])
    assert.deepEqual(server.calls[0]?.tools, [{type: 'function', function: tool}])
  })
})

describe('chat with a server that violates the protocol', () => {
  const line =
    (value: unknown): Answer<ChatCall> =>
    (response) =>
      response.end(`${JSON.stringify(value)}\n`)
  const cases: readonly [string, Answer<ChatCall>, SvcError['code'], RegExp][] = [
    [
      'answers in the format of /api/generate',
      line({response: 'x', done: false}),
      'inference_protocol',
      /\/api\/chat is not a compatible inference server: "message\.content" in a line is not a string\.$/,
    ],
    ['sends a string for the message', line({message: 'x', done: false}), 'inference_protocol', /"message\.content"/],
    [
      'sends calls without arguments',
      line({message: {content: '', tool_calls: [{function: {name: 'x', arguments: 'no JSON'}}]}, done: false}),
      'inference_protocol',
      /the "message\.tool_calls" of a line are malformed/,
    ],
    [
      'sends a number for the text',
      line({message: {content: 7}, done: false}),
      'inference_protocol',
      /"message\.content"/,
    ],
    [
      'sends an incomplete answer',
      line({message: {content: 'x'}, done: false}),
      'inference_protocol',
      /its answer is incomplete\.$/,
    ],
    [
      'mixes model output into its lines',
      (response) => response.end('{"message": {"content": "The secret'),
      'inference_protocol',
      /: line 1 is not JSON\.$/,
    ],
    ['reports an error', line({error: 'out of memory'}), 'inference_failed', /: out of memory\.$/],
  ]
  for (const [kind, answer, code, message] of cases)
    it(`fails if the server ${kind}`, async (test) => {
      const {baseUrl} = await scriptedChat(test, answer)
      const error = await chat(clientOf(test, baseUrl), request, unstopped).catch((thrown: unknown) => thrown)
      assert.ok(error instanceof SvcError, String(error))
      assert.equal(error.code, code)
      assert.match(error.message, message)
    })

  it('closes the connection if the caller aborts during the answer', async (test) => {
    const reason = new Error('The user stopped it.')
    const stop = new AbortController()
    const server = await scriptedChat(test, async (response) => {
      response.write(`${JSON.stringify({message: {content: 'Sev'}, done: false})}\n`)
      await sleep(50)
      stop.abort(reason)
    })
    await assert.rejects(chat(clientOf(test, server.baseUrl), request, stop.signal), (error) => error === reason)
    await server.hungUp
  })
})
