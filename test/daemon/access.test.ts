import assert from 'node:assert/strict'
import {readFileSync} from 'node:fs'
import {type AddressInfo, createServer as createTcpServer} from 'node:net'
import {networkInterfaces} from 'node:os'
import {join} from 'node:path'
import {before, describe, it} from 'node:test'
import {orchWorkspace, until} from '../support/orch-workspace.js'
import {external, Peer, type Reply, type RunningDaemon, startTestDaemon} from './support/daemon.js'
import {suiteLifetime} from './support/suite-lifetime.js'

const token = 'correct-horse-battery-staple'
const env = {SVC_DAEMON_TOKEN: token, SVC_LOG: 'trace'}
const hello = (given?: string) => ({
  jsonrpc: '2.0',
  id: 'h',
  method: 'orch.hello',
  params: given === undefined ? {} : {token: given},
})
const ping = {jsonrpc: '2.0', id: 1, method: 'orch.ping'}
const submit = {jsonrpc: '2.0', id: 2, method: 'orch.submit_task', params: external('x')}

describe('daemon with a token', () => {
  const suite = suiteLifetime()
  let daemon: RunningDaemon
  before(async () => {
    // A separate process, because one test checks its complete log.
    daemon = await startTestDaemon(suite, {env, alone: true})
  })

  it('answers clients that authenticate first', async (t) => {
    const {addr} = daemon
    const peer = await Peer.connect(t, addr)
    peer.send(hello(token), ping, submit)
    const greeting = await peer.next()
    const rest = await peer.nextOf(2)
    const {ok, methods} = greeting.result as {ok: boolean; methods: string[]}
    assert.ok(ok && methods.includes('orch.submit_task'))
    assert.deepEqual(
      rest.map(({id, error}) => [id, error]),
      [
        [1, undefined],
        [2, undefined],
      ],
    )
    const wrapped = await Peer.connect(t, addr)
    const answer = await wrapped.ask({id: 'a', method: 'orch.hello', params: {token}})
    assert.equal(answer.payload?.type, 'result')
  })

  const strangers: readonly [what: string, first: string | object][] = [
    ['another token', hello(`${token}r`)],
    ['no token', hello()],
    ['another method', ping],
    ['a batch', [hello(token)]],
    ['garbage', 'garbage'],
    ['a line above the limit for authentication', `{"jsonrpc":"2.0","id":1,"method":"${'x'.repeat(70_000)}"}`],
    ['params of a wrong type', {...hello(), params: {token: 7}}],
  ]
  for (const [what, first] of strangers)
    it(`refuses a client that starts with ${what} and executes none of its requests`, async (t) => {
      const {addr, workspace} = daemon
      const before = await workspace.tasks()
      const peer = await Peer.connect(t, addr)
      peer.send(first, hello(token), submit)
      const [line, ...more] = await peer.closed()
      assert.deepEqual(more, [])
      const {id, error, payload} = JSON.parse(line ?? '') as Reply
      assert.ok(error !== undefined || payload?.type === 'error', line)
      if (id === 'h' && what !== 'params of a wrong type') assert.equal(error?.code, 403)
      assert.deepEqual(await workspace.tasks(), before)
    })

  it('never reveals the token', async (t) => {
    const {addr, stderr, workspace} = daemon
    const said: string[] = []
    for (const line of [
      JSON.stringify(hello(token)),
      `{"jsonrpc":"2.0","id":1,"method":"orch.hello","params":{"token":"${token}`,
      `{"jsonrpc":"2.0","id":1,"method":"orch.hello","params":{"token":"${token}"},}`,
      `{"jsonrpc":"2.0","id":1,"method":"orch.hello","params":{"token":["${token}"]}}`,
      `{"jsonrpc":"2.0","id":1,"method":"orch.hello","params":{"token":"x${token}"}}`,
      `{"id":"1","method":"orch.hello","params":"${token}"}`,
    ]) {
      const peer = await Peer.connect(t, addr)
      peer.send(line)
      said.push(JSON.stringify(await peer.next()))
    }
    said.push(stderr(), readFileSync(join(workspace.cwd, '.svc/daemon.json'), 'utf8'))
    assert.match(stderr(), /authenticated/, 'the log records connections')
    for (const text of said) assert.ok(!text.includes(token), text)
  })

  it('does not require it over stdio', async (t) => {
    const {alone} = await orchWorkspace(t)
    const {stdout, exitCode} = await alone(['daemon', 'run', '--listen', 'stdio'], {env, input: JSON.stringify(ping)})
    assert.equal(exitCode, 0)
    assert.equal((JSON.parse(stdout) as Reply).error, undefined)
  })
})

describe('daemon without a token', () => {
  it('accepts hello with any token on loopback', async (t) => {
    const {addr, stderr} = await startTestDaemon(t)
    assert.doesNotMatch(stderr(), /not encrypted/)
    const peer = await Peer.connect(t, addr)
    for (const given of [undefined, 'anything']) assert.equal((await peer.ask(hello(given))).error, undefined)
  })
})

describe('web page', () => {
  it('cannot send requests in a request body', async (t) => {
    const {addr, workspace} = await startTestDaemon(t)
    const body = `${JSON.stringify(submit)}\n`.repeat(3)
    const answer = await fetch(`http://${addr}/`, {method: 'POST', body, headers: {'content-type': 'text/plain'}})
    assert.equal(answer.status, 400)
    assert.match(await answer.text(), /not an HTTP server/)
    for (const first of [
      'POST / HTTP/1.1\r\nHost: x\r\n\r\n',
      'GET /?x=1 HTTP/1.0\r\n\r\n',
      'OPTIONS * HTTP/1.1\r\n\r\n',
      'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
      `\r\n\r\nPOST /${'x'.repeat(9 << 20)} HTTP/1.1\r\n\r\n`,
    ]) {
      const peer = await Peer.connect(t, addr)
      peer.socket.write(`${first}${body}`)
      assert.ok(
        (await peer.closed()).every((line) => !line.includes('"task_id"')),
        first.slice(0, 20),
      )
    }
    assert.deepEqual(await workspace.tasks(), [])
  })
})

describe('daemon --listen', () => {
  const remote = ['daemon', 'run', '--listen', '0.0.0.0:0']

  it('accepts a non-loopback address only with flag and token', async (t) => {
    const {fails, status} = await orchWorkspace(t)
    assert.match(await fails(remote, 2, 'daemon_exposed'), /--allow-remote and a token/)
    assert.match(await fails([...remote, '--allow-remote'], 2, 'daemon_exposed'), /requires a token/)
    assert.match(await fails(remote, 2, 'daemon_exposed', {env}), /requires --allow-remote\./)
    const short = {SVC_DAEMON_TOKEN: 'fifteen-letters'}
    assert.match(
      await fails([...remote, '--allow-remote'], 2, 'daemon_exposed', {env: short}),
      /requires a token of at least 16 characters in SVC_DAEMON_TOKEN\.$/,
    )
    await fails(['daemon', 'run', '--listen', '[::]:0'], 2, 'daemon_exposed')
    const [address] = Object.values(networkInterfaces())
      .flat()
      .filter((each) => each?.family === 'IPv4' && !each.internal)
    if (address !== undefined) await fails(['daemon', 'run', '--listen', `${address.address}:0`], 2, 'daemon_exposed')
    assert.equal((await status()).daemon, null)

    const {addr, stderr} = await startTestDaemon(t, {args: ['--listen', '0.0.0.0:0', '--allow-remote'], env})
    assert.match(stderr(), /warning: Connections to 0\.0\.0\.0 are not encrypted\./)
    const peer = await Peer.connect(t, addr.replace('0.0.0.0', '127.0.0.1'))
    assert.equal((await peer.ask(hello(token))).error, undefined)
  })

  it('reports an address that is not available', async (t) => {
    const {fails} = await orchWorkspace(t)
    const taken = createTcpServer().listen(0, '127.0.0.1')
    t.after(() => taken.close())
    await new Promise((resolve) => taken.once('listening', resolve))
    const {port} = taken.address() as AddressInfo
    assert.match(
      await fails(['daemon', 'run', '--listen', `127.0.0.1:${port}`], 5, 'daemon_address_in_use'),
      new RegExp(`127\\.0\\.0\\.1:${port}`),
    )
    await fails(['daemon', 'run', '--listen', 'localhost'], 2, 'daemon_address_invalid')
    await fails(['daemon', 'run'], 2, 'daemon_address_invalid', {env: {SVC_ORCHESTRATOR_DAEMON_SOCKET: 'nowhere'}})
  })

  it('overrides the environment variable', async (t) => {
    const environment = {SVC_ORCHESTRATOR_DAEMON_SOCKET: ' tcp://127.0.0.1:0 '}
    const {addr} = await startTestDaemon(t, {args: [], env: environment})
    assert.match(addr, /^127\.0\.0\.1:\d+$/)
    const other = await startTestDaemon(t, {args: ['--listen', 'localhost:0'], env: environment})
    assert.match(other.addr, /^localhost:\d+$/)
  })
})

describe('daemon with many clients', () => {
  it('refuses connections above the limit and serves the others', async (t) => {
    const {addr} = await startTestDaemon(t)
    const peers: Peer[] = []
    for (let i = 0; i < 256; i++) peers.push(await Peer.connect(t, addr))
    await peers[255]?.call('orch.ping')
    const extra = await Peer.connect(t, addr)
    const [line] = await extra.closed()
    assert.equal((JSON.parse(line ?? '') as Reply).payload?.kind, 'daemon_full')
    peers[0]?.socket.end()
    await peers[0]?.closed()
    await until(async () => {
      const next = await Peer.connect(t, addr)
      const {result} = await next.ask({jsonrpc: '2.0', id: 1, method: 'orch.ping'})
      return result !== undefined
    }, 'room for another one')
    for (const peer of [peers[1], peers[255]]) assert.ok(await peer?.call('orch.ping'))
  })
})
