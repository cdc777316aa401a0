import assert from 'node:assert/strict'
import {once as onceEmitted} from 'node:events'
import {describe, it, type TestContext} from 'node:test'
import WebSocket from 'ws'
import {orchWorkspace} from '../../support/orch-workspace.js'
import {once, startHttp} from '../support.js'

const tokens = {SVC_MCP_HTTP_BEARER_TOKEN: 'writer-of-the-tests', SVC_MCP_HTTP_READ_BEARER_TOKEN: 'reader-of-the-tests'}

interface Message {
  id: unknown
  type: string
  success: boolean
  is_error: boolean
  data: {
    role?: string
    tools?: {name: string}[]
    type?: string
    payload?: string
    success?: boolean
    code?: string
  }
  error: string | null
}

describe('the WebSocket gateway', () => {
  const server = once(async (test) => {
    const workspace = await orchWorkspace(test as TestContext)
    const env = {...tokens, SVC_MCP_HTTP_HEALTH_AUTH: '1'}
    return {workspace, ...(await startHttp(test, {cwd: workspace.cwd, env}))}
  })

  async function connect(test: TestContext, headers: Record<string, string> = {}) {
    const {url} = await server()
    const address = new URL('/v1/ws', url)
    const socket = new WebSocket(address.href.replace('http', 'ws'), {headers: {origin: url.origin, ...headers}})
    test.after(() => socket.terminate())
    const received: Message[] = []
    let wake = () => {}
    socket.on('message', (data) => {
      received.push(JSON.parse(String(data)))
      wake()
    })
    /** Takes the next message of a type. */
    const next = async (type: string): Promise<Message> => {
      for (;;) {
        const at = received.findIndex((message) => message.type === type)
        const [found] = at === -1 ? [] : received.splice(at, 1)
        if (found !== undefined) return found
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    }
    const ask = (message: {id?: unknown; type: string; [name: string]: unknown}) => {
      socket.send(JSON.stringify(message))
      return next(message.type)
    }
    return {socket, next, ask}
  }

  /** The status with which an upgrade is refused. */
  async function refusal(headers: Record<string, string>): Promise<number | undefined> {
    const {url} = await server()
    const socket = new WebSocket(new URL('/v1/ws', url).href.replace('http', 'ws'), {headers})
    socket.on('error', () => undefined)
    const [, response] = (await onceEmitted(socket, 'unexpected-response')) as [unknown, {statusCode?: number}]
    socket.terminate()
    return response.statusCode
  }

  it('lists and calls tools, and pushes the bulletin board, after authentication', async (t) => {
    const {workspace} = await server()
    const {socket, ask, next} = await connect(t)
    await onceEmitted(socket, 'open')
    const {token} = {token: tokens.SVC_MCP_HTTP_BEARER_TOKEN}
    assert.deepEqual(await ask({id: 1, type: 'auth', args: {token}}), {
      id: 1,
      type: 'auth',
      success: true,
      is_error: false,
      data: {role: 'write'},
      error: null,
    })
    const {data} = await ask({id: 'a', type: 'list_tools'})
    assert.ok(data.tools?.some(({name}) => name === 'svc_submit_task'))
    const args = {description: 'x', processor: 'external'}
    const submitted = await ask({id: 2, type: 'call_tool', name: 'svc_submit_task', args})
    assert.deepEqual([submitted.id, submitted.success, submitted.data.success], [2, true, true])
    assert.equal((await next('agent_event')).data.type, 'AgentSpawned')
    assert.equal((await next('agent_event')).data.type, 'TaskAssigned')
    await workspace.text(['a2a', 'broadcast', 'core', 'broadcast_news', 'released'])
    const event = await next('agent_event')
    assert.deepEqual([event.data.type, event.data.payload], ['Broadcast', 'released'])
    const unknown = await ask({id: 3, type: 'call_tool', name: 'svc_nothing'})
    assert.deepEqual([unknown.is_error, unknown.data.code], [true, 'unknown_tool'])
    assert.match((await ask({id: 4, type: 'dance'})).error ?? '', /type is not auth/)
    socket.send('{"id": 5, "type": "call_tool", "name": "svc_task_status", "args": {"task_id": 9007199254740993}}')
    assert.match((await next('call_tool')).error ?? '', /9007199254740993 is not exact.*column 79/)
    socket.send('no JSON')
    assert.equal((await next('error')).data.code, 'bad_request')
  })

  it('permits only tools that read with the read token', async (t) => {
    const {ask, socket} = await connect(t, {authorization: `Bearer ${tokens.SVC_MCP_HTTP_READ_BEARER_TOKEN}`})
    await onceEmitted(socket, 'open')
    const args = {description: 'x'}
    const refused = await ask({id: 1, type: 'call_tool', name: 'svc_submit_task', args})
    assert.deepEqual([refused.success, refused.data.code], [false, 'unknown_tool'])
    assert.ok((await ask({id: 2, type: 'call_tool', name: 'svc_orchestrator_status'})).success)
  })

  it('closes with 4401 without a token, or with another one', async (t) => {
    for (const message of [{type: 'list_tools'}, {type: 'auth', args: {token: 'other'}}]) {
      const {socket} = await connect(t)
      await onceEmitted(socket, 'open')
      socket.send(JSON.stringify(message))
      assert.equal((await onceEmitted(socket, 'close'))[0], 4401)
    }
  })

  it('refuses upgrades without an origin, from other pages, or with another token', async () => {
    const {url} = await server()
    assert.deepEqual(
      await Promise.all([
        refusal({}),
        refusal({origin: 'https://example.org'}),
        refusal({origin: url.origin, authorization: 'Bearer other'}),
      ]),
      [403, 403, 401],
    )
  })

  it('closes a connection that sends too much', async (t) => {
    const {socket} = await connect(t)
    await onceEmitted(socket, 'open')
    socket.send('x'.repeat(300_000))
    assert.equal((await onceEmitted(socket, 'close'))[0], 1009)
  })

  it('requires a token for /health if SVC_MCP_HTTP_HEALTH_AUTH is set', async () => {
    const {url} = await server()
    const health = new URL('/health', url)
    const headers = {authorization: `Bearer ${tokens.SVC_MCP_HTTP_READ_BEARER_TOKEN}`}
    assert.deepEqual([(await fetch(health)).status, (await fetch(health, {headers})).status], [401, 200])
  })

  it('denies resources to a client of /mcp with the read token', async () => {
    const {url} = await server()
    const headers = {
      authorization: `Bearer ${tokens.SVC_MCP_HTTP_READ_BEARER_TOKEN}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    }
    const body = JSON.stringify({jsonrpc: '2.0', id: 1, method: 'resources/list'})
    assert.equal((await fetch(url, {method: 'POST', headers, body})).status, 403)
  })
})
