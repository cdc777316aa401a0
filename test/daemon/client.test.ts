import assert from 'node:assert/strict'
import {once} from 'node:events'
import {type AddressInfo, createServer, type Socket} from 'node:net'
import {createInterface} from 'node:readline'
import {describe, it, type TestContext} from 'node:test'
import {DaemonClient, fromWireError} from '../../src/daemon/client.js'
import {toWireError} from '../../src/daemon/wire-error.js'
import {type ErrorCode, isErrorOf, SvcError} from '../../src/errors/index.js'

/** Scripted server that answers each line. */
async function peer(test: TestContext, answer: (line: {id: number; method: string}, socket: Socket) => void) {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    createInterface({input: socket}).on('line', (line) => answer(JSON.parse(line), socket))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  test.after(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

const say = (socket: Socket, value: object) => socket.write(`${JSON.stringify({jsonrpc: '2.0', ...value})}\n`)
const failsWith = (code: ErrorCode) => (error: unknown) => isErrorOf(error, code)

describe('DaemonClient', () => {
  it('matches responses in any order', async (t) => {
    const waiting: (() => void)[] = []
    const address = await peer(t, ({id, method}, socket) => {
      waiting.unshift(() => say(socket, {id, result: method}))
      if (waiting.length === 3) for (const send of waiting) send()
    })
    const client = await DaemonClient.connect(address)
    assert.deepEqual(await Promise.all(['a', 'b', 'c'].map((method) => client.call(method))), ['a', 'b', 'c'])
    client.close()
  })

  it('buffers notifications and applies back pressure', async (t) => {
    const count = 20_000
    const address = await peer(t, ({id}, socket) => {
      say(socket, {id, result: null})
      for (let i = 0; i < count; i++)
        say(socket, {method: 'orch.event', params: {event: {id: i, text: 'x'.repeat(500)}}})
      socket.end()
    })
    const client = await DaemonClient.connect(address)
    await client.call('subscribe')
    let read = 0
    for await (const {params} of client.notifications()) assert.equal(params.event.id, read++)
    assert.equal(read, count)
    assert.ok(isErrorOf(client.fault, 'daemon_connection_lost'))
  })

  it('reports lost connections, timeouts and invalid responses', async (t) => {
    const silent = await DaemonClient.connect(await peer(t, () => undefined), {timeoutMs: 100})
    await assert.rejects(silent.call('x'), failsWith('timeout'))
    silent.close()
    const gone = await DaemonClient.connect(await peer(t, (_, socket) => socket.destroy()))
    await assert.rejects(gone.call('x'), failsWith('daemon_connection_lost'))
    await assert.rejects(gone.call('x'), failsWith('daemon_connection_lost'))
    const other = await DaemonClient.connect(await peer(t, (_, socket) => socket.write('220 mail ready\n')))
    await assert.rejects(other.call('x'), failsWith('daemon_answer_invalid'))
    await assert.rejects(DaemonClient.connect('127.0.0.1:1'), failsWith('unreachable'))
    await assert.rejects(DaemonClient.connect('nowhere'), failsWith('daemon_address_invalid'))
  })

  it('stops when its signal aborts', async (t) => {
    const stop = new AbortController()
    const client = await DaemonClient.connect(await peer(t, () => undefined), {signal: stop.signal})
    const call = client.call('x')
    stop.abort(new SvcError('interrupted', {}))
    await assert.rejects(call, failsWith('interrupted'))
    await assert.rejects(DaemonClient.connect('127.0.0.1:1', {signal: stop.signal}), failsWith('interrupted'))
  })
})

describe('fromWireError', () => {
  const errors = [
    new SvcError('task_not_found', {task: 'T-0001'}),
    new SvcError('params_invalid', {operation: 'm', violations: ['/a must be string', '/b must be string']}),
    new SvcError('store_busy', {path: '/x'}),
    new SvcError('daemon_token_refused', {}),
  ]
  for (const error of errors)
    it(`restores ${error.code}`, () => {
      const found = fromWireError(JSON.parse(JSON.stringify(toWireError(error))))
      assert.deepEqual(
        [found.code, found.message, found.hint, found.exit],
        [error.code, error.message, error.hint, error.exit],
      )
    })

  const foreign: readonly [code: number, exit: number][] = [
    [-32_700, 2],
    [-32_600, 2],
    [-32_601, 3],
    [-32_602, 2],
    [1, 1],
    [403, 4],
    [404, 3],
    [409, 4],
    [503, 5],
    [504, 5],
    [-32_050, 1],
  ]
  for (const [code, exit] of foreign)
    it(`maps code ${code} of an unknown kind to exit status ${exit}`, () => {
      for (const kind of ['from_the_future', 'task_not_found', 'constructor', '__proto__']) {
        const data = {kind, remediation: 'Wait.', facts: {}}
        const error = fromWireError({code, message: 'It is the wrong day for this.', data})
        assert.deepEqual([error.message, error.exit], ['It is the wrong day for this.', exit], kind)
      }
      assert.equal(fromWireError({code, message: 'No data.'} as never).message, 'No data.')
    })
})
