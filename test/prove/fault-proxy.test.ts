import assert from 'node:assert/strict'
import {once} from 'node:events'
import {createServer, type Server} from 'node:http'
import type {AddressInfo} from 'node:net'
import {text} from 'node:stream/consumers'
import {describe, it, type TestContext} from 'node:test'
import {request} from 'undici'
import {exchange} from '../../src/prove/clients/exchange.js'
import {observeProgram} from '../../src/prove/clients/observed-call.js'
import {type ConnectionFault, connectionFaults, type FaultRates} from '../../src/prove/faults/connection-faults.js'
import {createRandom} from '../../src/prove/faults/random.js'
import type {Call, Copy} from '../../src/prove/history/history.js'
import {FaultProxy, type Observer} from '../../src/prove/proxy/fault-proxy.js'
import {createKeyring} from '../../src/prove/server/keyring.js'

/** A server that records bodies, behind the proxy. */
interface TestBed {
  proxy: FaultProxy
  server: Server
  /** Complete bodies, in order of arrival. */
  taken: string[]
  /** Log entries of the proxy by request id. */
  passed: Map<number, {fault?: string; copies: readonly Copy[]}>
  ask: (id: number, body?: string) => ReturnType<typeof exchange>
}

const rates = (fault?: ConnectionFault): FaultRates =>
  Object.fromEntries(connectionFaults.map((name) => [name, name === fault ? 1 : 0])) as FaultRates

async function testBed(test: TestContext, fault?: ConnectionFault, observer?: Observer): Promise<TestBed> {
  const taken: string[] = []
  const server = createServer(async (request, response) => {
    const body = await text(request).catch(() => undefined)
    if (body === undefined) return
    taken.push(body)
    response.end(`took ${body}`)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const passed: TestBed['passed'] = new Map()
  const proxy = await new FaultProxy({
    target: () => (server.address() as AddressInfo).port,
    random: createRandom(1),
    rates: rates(fault),
    log: {passed: ({id, ...rest}) => void passed.set(id, rest)},
    maxDelayMs: 60,
    observer,
  }).start()
  test.after(async () => {
    await proxy.close()
    server.closeAllConnections()
    server.close()
  })
  const ask: TestBed['ask'] = (id, body = `{"id":${id}}`) =>
    exchange({
      port: proxy.port,
      method: 'POST',
      path: '/',
      headers: {'x-request-id': `prove-${id}`},
      body,
      timeoutMs: 60_000,
    })
  return {proxy, server, taken, passed, ask}
}

const until = async (isSo: () => boolean): Promise<void> => {
  const end = performance.now() + 60_000
  while (!isSo()) {
    assert.ok(performance.now() < end, 'timed out')
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

describe('FaultProxy', () => {
  it('forwards a request and its response and logs when it settled', async (test) => {
    const {ask, taken, passed} = await testBed(test)
    const sent = performance.now()
    assert.deepEqual(await ask(1), {status: 200, text: 'took {"id":1}'})
    assert.deepEqual(taken, ['{"id":1}'])
    await until(() => passed.has(1))
    const [copy] = passed.get(1)?.copies ?? []
    assert.ok(copy !== undefined && copy.status === 200)
    assert.ok(sent <= copy.forwarded && copy.forwarded <= (copy.settled ?? 0), JSON.stringify(copy))
  })

  it('drops a request before it arrives', async (test) => {
    const {ask, taken, passed} = await testBed(test, 'drop_before')
    assert.ok('failure' in (await ask(1)))
    await until(() => passed.has(1))
    assert.deepEqual([taken, passed.get(1)], [[], {fault: 'drop_before', copies: []}])
  })

  it('drops the response of a processed request', async (test) => {
    const {ask, taken, passed} = await testBed(test, 'drop_after')
    assert.ok('failure' in (await ask(1)))
    await until(() => passed.has(1))
    assert.equal(taken.length, 1)
    assert.equal(passed.get(1)?.copies[0]?.status, 200)
  })

  it('duplicates a request and returns one response', async (test) => {
    const {ask, taken, passed} = await testBed(test, 'duplicate')
    assert.deepEqual(await ask(1), {status: 200, text: 'took {"id":1}'})
    await until(() => passed.has(1))
    assert.deepEqual(taken, ['{"id":1}', '{"id":1}'])
    assert.deepEqual(
      passed.get(1)?.copies.map(({status}) => status),
      [200, 200],
    )
  })

  it('cuts a request so that the server never receives it completely', async (test) => {
    const {ask, taken, passed, proxy} = await testBed(test, 'cut')
    for (let id = 1; id <= 20; id++) assert.ok('failure' in (await ask(id)))
    await until(() => passed.size === 20)
    assert.ok([...passed.values()].every(({copies}) => copies.length === 0))
    proxy.heal()
    await ask(21)
    assert.deepEqual(taken, ['{"id":21}'])
  })

  it('holds a request until a later one has overtaken it', async (test) => {
    const {ask, taken} = await testBed(test, 'reorder')
    const answers = await Promise.all([ask(1), ask(2), ask(3)])
    assert.ok(answers.every((answer) => 'status' in answer && answer.status === 200))
    assert.equal(taken.length, 3)
  })

  it('delays a request', async (test) => {
    const {ask, taken} = await testBed(test, 'delay')
    const started = performance.now()
    for (let id = 1; id <= 5; id++) assert.ok('status' in (await ask(id)))
    assert.ok(performance.now() - started >= 5 * 9, 'five delays of ten milliseconds or more')
    assert.equal(taken.length, 5)
  })

  it('half-closes the connection after the request', async (test) => {
    const {ask, taken, passed} = await testBed(test, 'half_close')
    await ask(1)
    await until(() => taken.length === 1 && passed.size + 1 > 0)
    assert.deepEqual(taken, ['{"id":1}'])
  })

  it('calls an aimed action and drops the response of that request', async (test) => {
    const {ask, proxy, taken} = await testBed(test)
    let struck = 0
    proxy.aim('answered', () => struck++)
    assert.ok('failure' in (await ask(1)))
    assert.ok('status' in (await ask(2)))
    assert.deepEqual([struck, taken.length], [1, 2])
  })

  it('treats a request without a response as open until the server has exited', async (test) => {
    const {ask, server, proxy, passed} = await testBed(test)
    server.removeAllListeners('request').on('request', (request) => request.socket.destroy())
    assert.ok('failure' in (await ask(1)))
    assert.equal(passed.size, 0)
    proxy.serverEnded((server.address() as AddressInfo).port)
    await until(() => passed.has(1))
    const [copy] = passed.get(1)?.copies ?? []
    assert.ok(copy?.settled !== undefined && copy.status === undefined, JSON.stringify(copy))
  })

  it('refuses requests while it is cut', async (test) => {
    const {ask, proxy, taken} = await testBed(test)
    proxy.isCut = true
    assert.ok('failure' in (await ask(1)))
    proxy.isCut = false
    assert.ok('status' in (await ask(2)))
    assert.deepEqual(taken, ['{"id":2}'])
  })

  it('reads the requests of a program, and closes its connections', async (test) => {
    const calls: Call[] = []
    const keyring = createKeyring('prove')
    keyring.add()
    const who = 'worker-1'
    const observer = observeProgram({who, nextId: () => 7, keyring, onCall: (one) => void calls.push(one)})
    const {proxy, passed} = await testBed(test, undefined, observer)
    const authorization = `Bearer ${keyring.textOf({role: 'submitter', generation: 0}, undefined, 0)}`
    const body = JSON.stringify({lease_id: '3', claimer_node_id: who})
    const url = `http://127.0.0.1:${proxy.port}/v1/mesh`
    const headers = {authorization, 'content-type': 'application/json'}
    for (const path of ['exec/lease/renew', 'exec/lease/release'])
      await request(`${url}/${path}`, {method: 'POST', headers, body}).then((answer) => answer.body.dump())
    await request(`${url}/nodes?limit=5&labels=a%3Db`).then((answer) => answer.body.dump())
    await until(() => passed.has(7))
    const facts = calls.map(({id, operation, shown, args, status, isObserved}) => ({
      ...{id, operation, role: shown.role, args, status, isObserved},
    }))
    const common = {id: 7, status: 200, isObserved: true}
    const args = {lease_id: '3', claimer_node_id: who}
    assert.deepEqual(facts, [
      {...common, operation: 'exec_lease_renew', role: 'submitter', args},
      {...common, operation: 'exec_lease_release', role: 'submitter', args},
      {...common, operation: 'list_nodes', role: 'none', args: {limit: 5, labels: 'a=b'}},
    ])
    assert.ok(!JSON.stringify(calls).includes(authorization.slice(7)))
  })
})
