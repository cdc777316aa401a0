import assert from 'node:assert/strict'
import {describe, it, type TestContext} from 'node:test'
import {isErrorOf} from '../../src/errors/index.js'
import {askEndpoint} from '../../src/inference-client/index.js'
import {openAiMessage, openAiServer} from '../support/openai-server.js'

const {signal} = new AbortController()
const parameters = {maxTokens: 8, temperature: undefined, signal}
const hello = [{role: 'user' as const, content: 'hello'}]

async function openAi(test: TestContext, answer: object) {
  const {calls, url} = await openAiServer(test, () => answer)
  return {calls, env: {SVC_INFERENCE_URL: url, SVC_INFERENCE_API_KEY: 'secret-token', SVC_INFERENCE_TEMPERATURE: '0.2'}}
}

describe('askEndpoint', () => {
  it('asks the first model of a server with the API of OpenAI', async (test) => {
    const {calls, env} = await openAi(test, openAiMessage('hi'))
    const ask = await askEndpoint({env}, signal)
    assert.equal(await ask(hello, parameters), 'hi')
    assert.deepEqual(calls.at(-1), {
      path: '/v1/chat/completions',
      authorization: 'Bearer secret-token',
      body: {model: 'first', messages: hello, temperature: 0.2, max_tokens: 8},
    })
  })

  it('prefers the configured model', async (test) => {
    const {calls, env} = await openAi(test, openAiMessage(''))
    const ask = await askEndpoint({env: {...env, SVC_INFERENCE_MODEL: 'second'}}, signal)
    assert.equal(await ask(hello, {...parameters, temperature: 0}), '')
    const called = {model: 'second', messages: hello, temperature: 0, max_tokens: 8}
    assert.deepEqual(calls.at(-1)?.body, called)
  })

  it('rejects a response without a message', async (test) => {
    const {env} = await openAi(test, {choices: []})
    const ask = await askEndpoint({env}, signal)
    await assert.rejects(ask(hello, parameters), (error) => isErrorOf(error, 'inference_protocol'))
  })
})
