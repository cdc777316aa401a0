import assert from 'node:assert/strict'
import {describe, it, type TestContext} from 'node:test'
import {
  chat,
  contextLengthOf,
  generate,
  inferenceClient,
  probeEndpoint,
  resolveEndpoint,
  servedModels,
} from '../../src/inference-client/index.js'
import {openAiServer} from '../support/openai-server.js'

const signal = new AbortController().signal

/** A server that only has the OpenAI API, and a client with the profile for it. */
async function cloud(t: TestContext, answer: object) {
  const server = await openAiServer(t, {
    answer: (response) => response.end(JSON.stringify(answer)),
    models: ['large', 'small'],
  })
  const env = {SVC_INFERENCE_URL: server.baseUrl, SVC_INFERENCE_PROFILE: 'cloud', SVC_INFERENCE_API_KEY: 'key-1'}
  const {endpoint} = resolveEndpoint({env})
  const client = inferenceClient(endpoint)
  t.after(() => client.close())
  return {...server, endpoint, client}
}

const hello = {
  choices: [{message: {role: 'assistant', content: 'Hello.'}, finish_reason: 'length'}],
  usage: {prompt_tokens: 7, completion_tokens: 2},
}

describe('SVC_INFERENCE_PROFILE', () => {
  const profiles = {
    '': 'desktop_ollama',
    ollama: 'desktop_ollama',
    LAN: 'lan_gateway',
    lan_gateway: 'lan_gateway',
    cloud: 'cloud_openai_compatible',
    mobile_litert: 'mobile_litert',
  }
  for (const [value, profile] of Object.entries(profiles))
    it(`${JSON.stringify(value)} is ${profile}`, () => {
      const {endpoint, warnings} = resolveEndpoint({env: {SVC_INFERENCE_PROFILE: value}})
      assert.deepEqual([endpoint.profile, warnings], [profile, []])
    })

  it('is the default with a warning if it is unknown', () => {
    const {endpoint, warnings} = resolveEndpoint({env: {SVC_INFERENCE_PROFILE: 'mainframe'}})
    assert.equal(endpoint.profile, 'desktop_ollama')
    assert.match(warnings[0]?.message ?? '', /SVC_INFERENCE_PROFILE.*mainframe/)
  })
})

describe('the profile cloud_openai_compatible', () => {
  it('sends conversations to /v1/chat/completions with the API key', async (t) => {
    const {client, calls} = await cloud(t, hello)
    const deltas: string[] = []
    const messages = [{role: 'user', content: 'Hi'}] as const
    const request = {model: 'large', messages, temperature: 0, topP: 0.5, maxTokens: 9, format: 'json'} as const
    const answer = await chat(client, request, signal, undefined, {onDelta: (text) => void deltas.push(text)})
    assert.deepEqual(answer, {text: 'Hello.', inputTokens: 7, outputTokens: 2, cutOff: true})
    assert.deepEqual(deltas, ['Hello.'])
    assert.deepEqual(calls, [
      {
        path: '/v1/chat/completions',
        token: 'Bearer key-1',
        body: {
          model: 'large',
          messages,
          temperature: 0,
          top_p: 0.5,
          max_tokens: 9,
          response_format: {type: 'json_object'},
          stream: false,
        },
      },
    ])
  })

  it('sends tools with arguments as text, and returns the calls of them', async (t) => {
    const weather = (city: string) => ({name: 'weather', arguments: JSON.stringify({city})})
    const message = {content: null, tool_calls: [{id: 'call_2', type: 'function', function: weather('Rome')}]}
    const {client, calls} = await cloud(t, {choices: [{message, finish_reason: 'tool_calls'}]})
    const earlier = {id: 'call_1', name: 'weather', arguments: {city: 'Oslo'}}
    const tool = {name: 'weather', description: 'Returns the weather', parameters: {type: 'object'}}
    const messages = [
      {role: 'assistant', content: '', calls: [earlier]},
      {role: 'tool', content: 'rain', call: earlier},
    ] as const
    const answer = await chat(client, {model: 'large', temperature: 0, maxTokens: 9, messages, tools: [tool]}, signal)
    assert.deepEqual(answer.calls, [{id: 'call_2', name: 'weather', arguments: {city: 'Rome'}}])
    const {body} = calls[0] ?? assert.fail()
    assert.deepEqual((body as {messages: unknown}).messages, [
      {role: 'assistant', content: '', tool_calls: [{id: 'call_1', type: 'function', function: weather('Oslo')}]},
      {role: 'tool', content: 'rain', tool_call_id: 'call_1'},
    ])
  })

  it('does not send schemas and expressions, which such servers may refuse', async (t) => {
    const {client, calls} = await cloud(t, hello)
    const common = {model: 'large', temperature: 0, maxTokens: 9, format: {type: 'array'}}
    await generate(client, {...common, system: 'Be brief.', prompt: 'Hi'}, signal)
    await chat(client, {...common, messages: [], pattern: 'Hello'}, signal)
    for (const {body} of calls)
      assert.deepEqual(Object.keys(body ?? {}), ['model', 'messages', 'temperature', 'max_tokens', 'stream'])
  })

  it('sends tasks as conversations, and lists models by the OpenAI API', async (t) => {
    const {client, calls, endpoint} = await cloud(t, hello)
    assert.deepEqual(await servedModels(client, signal), ['large', 'small'])
    assert.equal(await contextLengthOf(client, 'large', signal), 4096)
    const request = {model: 'large', system: 'Be brief.', prompt: 'Hi', temperature: 0, maxTokens: 9}
    assert.equal((await generate(client, request, signal)).text, 'Hello.')
    assert.deepEqual(
      calls.map(({path}) => path),
      ['/v1/models', '/v1/chat/completions'],
    )
    assert.deepEqual(
      calls[1]?.body?.messages.map(({role, content}) => [role, content]),
      [
        ['system', 'Be brief.'],
        ['user', 'Hi'],
      ],
    )
    const probe = await probeEndpoint(endpoint)
    assert.deepEqual([probe.reachable, calls.length], [false, 2])
  })

  it('rejects an answer without a message', async (t) => {
    const {client} = await cloud(t, {choices: []})
    const request = {model: 'large', messages: [], temperature: 0, maxTokens: 9}
    await assert.rejects(chat(client, request, signal), {code: 'inference_protocol'})
  })
})

describe('a mobile profile', () => {
  it('allows no calls', () => {
    const {endpoint} = resolveEndpoint({env: {SVC_INFERENCE_PROFILE: 'mobile_coreml'}})
    assert.throws(() => inferenceClient(endpoint), {code: 'inference_profile_offline'})
  })
})
