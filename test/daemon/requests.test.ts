import assert from 'node:assert/strict'
import {once} from 'node:events'
import {before, describe, it} from 'node:test'
import {orchWorkspace, templates, until} from '../support/orch-workspace.js'
import {writeFiles} from '../support/temporary.js'
import {Peer, peakMemory, type Reply, type RunningDaemon, skipWithoutProc, startTestDaemon} from './support/daemon.js'
import {describeRequestLoad} from './support/request-load.js'
import {ping, say, submit} from './support/requests.js'
import {suiteLifetime} from './support/suite-lifetime.js'

describe('daemon requests', {concurrency: false}, () => {
  const suite = suiteLifetime()
  let daemon: RunningDaemon
  before(async () => {
    // A separate process, because one test checks its memory.
    daemon = await startTestDaemon(suite, {alone: true})
  })

  it('can arrive in arbitrary pieces', async (t) => {
    const peer = await Peer.connect(t, daemon.addr)
    const text = Buffer.from(`\r\n\n${JSON.stringify(ping('ü€😀'))}\r\n   \n${JSON.stringify(ping('b'))}\n`)
    for (const byte of text) {
      peer.socket.write(Buffer.from([byte]))
      if (byte % 5 === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    assert.deepEqual(
      (await peer.nextOf(2)).map(({id}) => id),
      ['ü€😀', 'b'],
    )
  })

  it('that are invalid do not affect others', async (t) => {
    const peer = await Peer.connect(t, daemon.addr)
    const rubbish: readonly (string | Buffer)[] = [
      '\0\0\0',
      '{"jsonrpc":"2.0","id":1,"method":"orch.ping"}\0',
      '{"id":"a\u0007","method":"orch.ping","params":{}}',
      Buffer.from([0xff, 0xfe, 0x7b, 0x7d]),
      Buffer.from('{"jsonrpc":"2.0","id":1,"method":"\xc3("}', 'latin1'),
      '['.repeat(100_000),
      `${'['.repeat(50_000)}${']'.repeat(50_000)}`,
      `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`,
      '{"__proto__":{"id":"1"},"method":"orch.ping"}',
      '{"jsonrpc":"2.0","id":1,"method":"__proto__"}',
      '{"jsonrpc":"2.0","id":1,"method":"constructor"}',
      '{"jsonrpc":"2.0","id":1,"method":"orch.submit_task","params":{"__proto__":{"description":"x"}}}',
      `{"jsonrpc":"2.0","id":1,"method":"${'x'.repeat(1 << 20)}"}`,
      '\uD800',
      'NaN',
      '"orch.ping"',
    ]
    for (const [n, bytes] of rubbish.entries()) {
      peer.socket.write(Buffer.concat([Buffer.from(bytes as string), Buffer.from('\n')]))
      const answer = await peer.next<Reply | Reply[]>()
      const [{error, payload}] = (Array.isArray(answer) ? answer : [answer]) as [Reply]
      assert.ok(error !== undefined || payload?.type === 'error', `${n}: ${JSON.stringify(answer)}`)
      assert.equal((await peer.ask(ping(n))).id, n)
    }
  })

  it('get all violations of their schema', async (t) => {
    const peer = await Peer.connect(t, daemon.addr)
    const params = {priority: 7, file_manifest: [{path: 1}], depends_on: 'x', unknown: true}
    const {error} = await peer.ask({...submit(1), params})
    assert.equal(error?.code, -32_602)
    for (const place of [
      "required property 'description'",
      '"unknown"',
      '/priority',
      '/file_manifest/0/path',
      '/depends_on',
    ])
      assert.ok(error?.message.includes(place), `${place} in ${error?.message}`)
  })

  it('above the maximum length are skipped in bounded memory', {skip: skipWithoutProc}, async (t) => {
    const peer = await Peer.connect(t, daemon.addr)
    await peer.ask(ping(0))
    const before = peakMemory(daemon.pid)
    const chunk = Buffer.alloc(1 << 20, 'x')
    peer.socket.write('{"jsonrpc":"2.0","id":1,"method":"')
    for (let i = 0; i < 200; i++) if (!peer.socket.write(chunk)) await once(peer.socket, 'drain')
    peer.send('"}', ping(1))
    const {id, error} = await peer.next()
    assert.deepEqual([id, error?.code, error?.data.kind], [null, -32_600, 'request_too_long'])
    assert.equal((await peer.next()).id, 1)
    const grown = peakMemory(daemon.pid) - before
    assert.ok(grown < 100 << 20, `${grown >> 20} MiB more than before`)
  })

  it('of the maximum length are executed', async (t) => {
    const peer = await Peer.connect(t, daemon.addr)
    const head = '{"jsonrpc":"2.0","id":1,"method":"orch.ping","more":"'
    const line = `${head}${'x'.repeat((8 << 20) - head.length - 2)}"}`
    assert.equal(line.length, 8 << 20)
    assert.equal((await peer.ask(line)).error, undefined)
    assert.equal((await peer.ask(`${line} `)).error?.data.kind, 'request_too_long')
  })

  it('of a half-closed connection are all answered', async (t) => {
    const peer = await Peer.connect(t, daemon.addr)
    peer.send(...Array.from({length: 500}, (_, i) => submit(i)))
    // The last line has no line end.
    peer.socket.end(JSON.stringify(ping('last')))
    const answers = (await peer.closed()).map((line) => JSON.parse(line) as Reply)
    assert.deepEqual([answers.length, answers.at(-1)?.id], [501, 'last'])
  })

  it('in a batch are answered together, including asynchronous ones', async (t) => {
    const peer = await Peer.connect(t, daemon.addr)
    const batch = [ping(1), {...ping(2), method: 'orch.reload_config'}, 'x', submit('s'), {...ping(0), id: undefined}]
    const answers = await peer.ask<Reply[]>(batch)
    assert.deepEqual(
      answers.map(({id, error}) => [id, error?.code]),
      [
        [1, undefined],
        [2, undefined],
        [null, -32_600],
        ['s', undefined],
      ],
    )
    peer.send(
      Array.from({length: 1000}, (_, i) => ping(i)),
      ping('after'),
    )
    assert.equal((await peer.next<Reply[]>()).length, 1000)
    assert.equal((await peer.next()).id, 'after')
    const refused = await peer.ask(Array.from({length: 1001}, (_, i) => ping(i)))
    assert.deepEqual([refused.id, refused.error?.code], [null, -32_600])
  })

  it('to reload the settings reach the scheduler', async (t) => {
    const workspace = await orchWorkspace(t, '')
    const {addr} = await startTestDaemon(t, {workspace})
    const peer = await Peer.connect(t, addr)
    const refused = await peer.ask({...submit(1), params: say})
    assert.equal(refused.error?.data.kind, 'exec_disabled')
    await writeFiles(workspace.cwd, {'Svc.toml': templates})
    const {changed} = await peer.call<{changed: string[]}>('orch.reload_config')
    assert.ok(changed.length > 0)
    const {task_id} = await peer.call<{task_id: number}>('orch.submit_task', say)
    await until(async () => {
      const {status} = await peer.call<{status: string}>('orch.task_status', {task_id})
      return status === 'Completed'
    }, 'the end of the task')
  })
})

// Larger loads are tested in `load.slow.ts`.
describeRequestLoad({ofOne: 600, clients: 100, ofEach: 5, ofBusy: 1500})
