import assert from 'node:assert/strict'
import {describe, it, type TestContext} from 'node:test'
import {createStateless} from '../../src/mcp/http/stateless.js'
import {BackgroundCalls, ResourceFeed, type Tool, ToolRegistry} from '../../src/mcp/index.js'
import {envelope, modernRequest, prefix} from './modern.js'

const schema = {type: 'object', properties: {word: {type: 'string'}}, required: ['word']}

/** A tool that asks for two words. @param onEnd is called when a call has ended */
const asking = (name: string, onEnd: () => void): Tool => ({
  name,
  tier: 'core',
  lane: 'platform',
  input: {type: 'object'},
  listed: {
    name,
    description: 'Asks twice.',
    inputSchema: {type: 'object'},
    annotations: {title: 'Ask', readOnlyHint: true, openWorldHint: false},
  },
  async call(_args, _host, {ask}) {
    const first = await ask?.({message: 'First?', schema})
    const second = await ask?.({message: 'Second?', schema})
    onEnd()
    return {data: [first?.word ?? null, second?.word ?? null]}
  },
})

interface Reply {
  result?: {
    resultType: string
    requestState?: string
    inputRequests?: Record<string, {params: {message: string}}>
    structuredContent?: {data: unknown}
  }
  error?: {code: number}
}

function server(t: TestContext, askTimeoutMs: number) {
  const open = () => Promise.reject(new Error('nothing is to be opened'))
  let onEnd: () => void = () => undefined
  const ended = new Promise<void>((resolve) => {
    onEnd = resolve
  })
  const registry = new ToolRegistry(['ask', 'other'].map((name) => asking(name, onEnd)))
  const host = {version: '1', open}
  const parts = {registry, tiers: new Set(['core'] as const), host, feed: new ResourceFeed(open), askTimeoutMs}
  const stateless = createStateless({...parts, background: new BackgroundCalls(registry, host)}, 4)
  t.after(() => stateless.close(0))
  const meta = envelope({[`${prefix}/clientCapabilities`]: {elicitation: {}}})
  const send = async (params: object): Promise<Reply> => {
    const {request, body} = modernRequest('http://localhost/mcp', 'tools/call', {params: {...params}, meta})
    const response = await stateless.answer(request, body, new Promise(() => undefined))
    return (await response.json()) as Reply
  }
  /** Repeats the call with an answer to its question. */
  const reply = ({result}: Reply, response: unknown, name = 'ask') => {
    const [key = ''] = Object.keys(result?.inputRequests ?? {})
    const inputResponses = response === undefined ? {} : {[key]: response, unknown: {action: 'accept', content: {}}}
    return send({name, requestState: result?.requestState, inputResponses})
  }
  return {begin: () => send({name: 'ask'}), reply, ended}
}

const messageOf = ({result}: Reply) => Object.values(result?.inputRequests ?? {})[0]?.params.message
const word = (text: string) => ({action: 'accept', content: {word: text}})

describe('a call that asks questions in its results', {concurrency: true}, () => {
  it('continues with each answer', async (t) => {
    const {begin, reply} = server(t, 60_000)
    const first = await begin()
    assert.deepEqual([first.result?.resultType, messageOf(first)], ['input_required', 'First?'])
    const second = await reply(first, word('one'))
    assert.equal(messageOf(second), 'Second?')
    assert.notEqual(second.result?.requestState, first.result?.requestState)
    assert.deepEqual((await reply(second, {action: 'decline'})).result?.structuredContent?.data, ['one', null])
  })

  it('asks again if the answer is missing', async (t) => {
    const {begin, reply} = server(t, 60_000)
    const first = await begin()
    for (const nothing of [undefined, {content: {}}]) assert.deepEqual(await reply(first, nothing), first)
    assert.equal(messageOf(await reply(first, word('one'))), 'Second?')
  })

  it('refuses an invalid answer, and waits for another one', async (t) => {
    const {begin, reply} = server(t, 60_000)
    const first = await begin()
    for (const content of [undefined, {}, {word: 1}, 'one'])
      assert.equal((await reply(first, {action: 'accept', content})).error?.code, -32602)
    assert.equal(messageOf(await reply(first, word('one'))), 'Second?')
  })

  it('accepts an answer once, and only for its own tool', async (t) => {
    const {begin, reply} = server(t, 60_000)
    const first = await begin()
    assert.equal((await reply(first, word('one'), 'other')).error?.code, -32602)
    await reply(first, word('one'))
    assert.equal((await reply(first, word('two'))).error?.code, -32602)
  })

  it('goes on without an answer after the timeout', async (t) => {
    const {begin, reply, ended} = server(t, 20)
    // The timer of the call does not keep the process running; in `svc` the sockets do.
    const running = setInterval(() => undefined, 60_000)
    t.after(() => clearInterval(running))
    const first = await begin()
    await ended
    assert.equal((await reply(first, word('one'))).error?.code, -32602)
  })
})
