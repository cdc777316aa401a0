import assert from 'node:assert/strict'
import {once} from 'node:events'
import {createServer, type RequestListener} from 'node:http'
import type {AddressInfo} from 'node:net'
import {describe, it, type TestContext} from 'node:test'
import {type CallServer, createCaller} from '../../src/prove/clients/caller.js'
import type {Call} from '../../src/prove/history/history.js'
import {createKeyring, type Keyring} from '../../src/prove/server/keyring.js'

interface TestBed {
  call: CallServer
  keyring: Keyring
  logged: Call[]
}

async function testBed(test: TestContext, answer: RequestListener, timeoutMs = 60_000): Promise<TestBed> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  test.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const keyring = createKeyring('prove')
  keyring.add()
  const logged: Call[] = []
  const call = createCaller({
    port: (server.address() as AddressInfo).port,
    keyring,
    timeoutMs,
    nextId: () => logged.length + 1,
    onCall: (one) => void logged.push(one),
  })
  return {call, keyring, logged}
}

describe('createCaller', () => {
  it('sends the token for the route and logs its name but not its text', async (test) => {
    let shown: string | undefined
    const {call, keyring, logged} = await testBed(test, (request, response) => {
      shown = request.headers.authorization
      response.end('{"accepted":true,"message_id":3}')
    })
    await call('sender-1', {operation: 'a2a_deliver', body: {payload: 'x'}})
    const token = keyring.textOf({role: 'submitter', generation: 0}, undefined, 0)
    assert.equal(shown, `Bearer ${token}`)
    const [one] = logged
    assert.deepEqual([one?.shown, one?.status, one?.body?.message_id], [{role: 'submitter', generation: 0}, 200, 3])
    assert.ok(!JSON.stringify(logged).includes(token ?? ''))
  })

  it('sends list options as a query and logs a reduced response', async (test) => {
    let asked: string | undefined
    const nodes = Array.from({length: 100}, (_, i) => ({id: `node-${i}`, version: '1', last_seen_unix_ms: i}))
    const {call} = await testBed(test, (request, response) => {
      asked = request.url
      response.end(JSON.stringify({nodes, server_time_unix_ms: 7}))
    })
    const {body} = await call('reader-1', {operation: 'list_nodes', body: {limit: 100, cursor: 'a b'}})
    assert.equal(asked, '/v1/mesh/nodes?limit=100&cursor=a%20b')
    const {count, nodes: kept} = body as {count: number; nodes: unknown[]}
    assert.deepEqual([count, kept.length], [100, 40])
  })

  it('logs a late or missing response as a failure without a status', async (test) => {
    const silent = await testBed(test, () => undefined, 300)
    const late = await silent.call('node-1', {operation: 'join', body: {id: 'node-1'}})
    const leaving = await testBed(test, (request) => request.socket.destroy())
    const gone = await leaving.call('node-1', {operation: 'leave', body: {id: 'node-1'}})
    assert.deepEqual(
      [late.status, late.failure, gone.status, gone.failure],
      [undefined, 'timeout', undefined, 'ECONNRESET'],
    )
  })

  it('detects a secret in a response, except in that of a bootstrap exchange', async (test) => {
    let secret = ''
    const {call, keyring, logged} = await testBed(test, (_request, response) => {
      response.end(JSON.stringify({mesh_token: secret, role: 'worker'}))
    })
    secret = keyring.textOf({role: 'worker', generation: 0}, undefined, 0) ?? ''
    const leaked = await call('node-1', {operation: 'join'})
    const exchanged = await call('newcomer-1', {operation: 'bootstrap_exchange'})
    assert.deepEqual([leaked.leaked, exchanged.leaked], [true, undefined])
    assert.ok(!JSON.stringify(logged[1]).includes(secret))
  })
})
