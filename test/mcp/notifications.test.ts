import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {setTimeout as sleep} from 'node:timers/promises'
import {Client, InMemoryTransport} from '@modelcontextprotocol/client'
import {BackgroundCalls, type CallHooks, ResourceFeed, type Tool, ToolRegistry} from '../../src/mcp/index.js'
import {createToolServer} from '../../src/mcp/server.js'
import {createServerState} from '../../src/mcp/server-state.js'
import {until} from '../support/until.js'

/** A server with one tool that runs a callback, and a connected client. */
async function probe(run: (hooks: CallHooks) => unknown) {
  const tool: Tool = {
    name: 'probe',
    tier: 'core',
    lane: 'platform',
    input: {type: 'object'},
    listed: {
      name: 'probe',
      description: 'A probe.',
      inputSchema: {type: 'object'},
      outputSchema: {type: 'object'},
      annotations: {title: 'Probe', readOnlyHint: true, openWorldHint: false},
    },
    call: async (_args, _host, hooks) => ({data: await run(hooks)}),
  }
  const open = () => Promise.reject(new Error('nothing is to be opened'))
  const state = createServerState()
  const registry = new ToolRegistry([tool])
  const host = {version: '1', open}
  const parts = {
    registry,
    tiers: new Set(['core'] as const),
    host,
    feed: new ResourceFeed(open),
    background: new BackgroundCalls(registry, host),
    askTimeoutMs: 1000,
  }
  const server = createToolServer(parts, state, 'legacy')
  const client = new Client({name: 'test', version: '1'})
  const messages: {level: string; data: unknown}[] = []
  client.setNotificationHandler('notifications/message', ({params}) => {
    messages.push({level: params.level, data: params.data})
  })
  const [here, there] = InMemoryTransport.createLinkedPair()
  await Promise.all([server.connect(there), client.connect(here)])
  return {client, messages, idle: () => state.running.idle(), server}
}

const call = {name: 'probe', arguments: {}}

describe('progress notifications', () => {
  const steps = ({report}: CallHooks) => {
    report({done: 1, total: 4, message: 'begun'})
    report({done: 1, total: 4})
    report({done: 0.5})
    report({done: 4, total: 4})
  }

  it('arrive before the result and always increase', async () => {
    const {client} = await probe(steps)
    const events: object[] = []
    await client.callTool(call, {onprogress: (progress) => events.push(progress)})
    assert.deepEqual(events, [
      {progress: 1, total: 4, message: 'begun'},
      {progress: 4, total: 4},
    ])
  })

  it('are not sent without a progress token', async () => {
    const {client} = await probe(steps)
    const faults: Error[] = []
    client.onerror = (error) => faults.push(error)
    await client.callTool(call)
    await sleep(20)
    assert.deepEqual(faults, [])
  })
})

describe('cancelled call', () => {
  it('aborts its signal and is not answered', async () => {
    let ended: Promise<string> | undefined
    const {client} = await probe(({signal}) => {
      ended = new Promise((resolve) => signal.addEventListener('abort', () => resolve('aborted')))
      return ended
    })
    const controller = new AbortController()
    const answer = client.callTool(call, {signal: controller.signal})
    const refused = assert.rejects(answer, /enough of it/)
    while (ended === undefined) await sleep(5)
    controller.abort('enough of it')
    await refused
    assert.equal(await ended, 'aborted')
  })
})

describe('log notifications', () => {
  const talk = ({notice}: CallHooks) => {
    notice('warning: the clock is wrong')
    notice('the model is loaded')
  }

  it('have the level warning for warnings, otherwise notice', async () => {
    const {client, messages} = await probe(talk)
    await client.callTool(call)
    assert.deepEqual(messages, [
      {level: 'warning', data: 'the clock is wrong'},
      {level: 'notice', data: 'the model is loaded'},
    ])
  })

  it('respect the level set by the client', async () => {
    const {client, messages} = await probe(talk)
    await client.setLoggingLevel('warning')
    await client.callTool(call)
    await client.setLoggingLevel('error')
    await client.callTool(call)
    await client.setLoggingLevel('debug')
    await client.callTool(call)
    assert.deepEqual(
      messages.map(({level}) => level),
      ['warning', 'warning', 'notice'],
    )
  })
})

describe('idle()', () => {
  it('resolves when the last call is answered', async () => {
    let release: (value: string) => void = () => undefined
    let isRunning = false
    const {client, idle, server} = await probe(
      () =>
        new Promise<string>((resolve) => {
          release = resolve
          isRunning = true
        }),
    )
    const answer = client.callTool(call)
    await until(() => isRunning, 'the call runs')
    let isIdle = false
    const end = idle().then(() => {
      isIdle = true
    })
    await sleep(20)
    assert.equal(isIdle, false)
    release('done')
    await end
    await server.close()
    assert.deepEqual((await answer).structuredContent, {success: true, data: 'done'})
  })
})
