import assert from 'node:assert/strict'
import {once} from 'node:events'
import {describe, it} from 'node:test'
import {setTimeout as sleep} from 'node:timers/promises'
import {timeoutMs} from '../support/until.js'
import {external, Peer, peakMemory, type Reply, skipWithoutProc, startTestDaemon} from './support/daemon.js'
import {describeEventBacklog} from './support/event-backlog.js'

const line = (value: object) => `${JSON.stringify(value)}\n`

describe('client that does not read', () => {
  it('uses bounded memory, is not read any further, and does not delay others', {skip: skipWithoutProc}, async (t) => {
    const {addr, pid} = await startTestDaemon(t, {alone: true})
    const other = await Peer.connect(t, addr)
    const description = 'x'.repeat(20_000)
    for (let i = 0; i < 50; i++) await other.call('orch.submit_task', external(description))

    const deaf = await Peer.connect(t, addr)
    deaf.socket.pause()
    const before = peakMemory(pid)
    // Each response has one megabyte.
    const request = line({jsonrpc: '2.0', id: 1, method: 'orch.list_tasks', params: {limit: 50}})
    for (let i = 0; i < 2000; i++) deaf.socket.write(request)
    // A small request, sent often enough to fill the socket buffers.
    const block = line({jsonrpc: '2.0', id: 1, method: 'orch.ping', params: {}, more: 'x'.repeat(1000)}).repeat(1000)
    let sent = 0
    while (sent < 64 && deaf.socket.writableLength < 16 << 20) {
      deaf.socket.write(block)
      sent++
      await sleep(5)
    }
    // The daemon reads until the socket buffers are full, between two responses to another client.
    let stuck = -1
    for (let unchanged = 0; unchanged < 50; unchanged++) {
      await other.call('orch.ping')
      if (deaf.socket.writableLength !== stuck) unchanged = 0
      stuck = deaf.socket.writableLength
      await sleep(5)
    }
    assert.ok(stuck > 0, 'the daemon has read all that was sent, although nobody reads its answers')
    for (let i = 0; i < 50; i++) await other.call('orch.ping')
    assert.equal(deaf.socket.writableLength, stuck, 'nothing more is read')
    const grown = peakMemory(pid) - before
    assert.ok(grown < 80 << 20, `${grown >> 20} MiB more than before`)

    // The client gets all responses when it starts to read.
    deaf.socket.resume()
    for (let i = 0; i < 20; i++) assert.equal((await deaf.next<Reply>()).id, 1)
  })

  it('does not prevent the daemon from stopping', async (t) => {
    const {addr, end} = await startTestDaemon(t)
    const deaf = await Peer.connect(t, addr)
    deaf.socket.pause()
    const request = line({jsonrpc: '2.0', id: 1, method: 'orch.methods'})
    for (let i = 0; i < 5000; i++) deaf.socket.write(request)
    await (await Peer.connect(t, addr)).call('orch.ping')
    const started = performance.now()
    assert.equal(await end('SIGTERM'), 0)
    assert.ok(performance.now() - started < timeoutMs)
  })
})

describe('daemon that stops', () => {
  it('answers received requests and accepts no more', async (t) => {
    for (const how of ['SIGTERM', 'SIGINT', 'orch.shutdown'] as const) {
      const {addr, end, ended, workspace} = await startTestDaemon(t)
      const idle = await Peer.connect(t, addr)
      const peer = await Peer.connect(t, addr)
      const count = 200
      for (let i = 0; i < count; i++)
        peer.send({jsonrpc: '2.0', id: i, method: 'orch.submit_task', params: external(`task ${i}`)})
      await peer.next()
      if (how === 'orch.shutdown') await idle.call(how)
      const status = how === 'orch.shutdown' ? ended() : end(how)
      const answers = (await peer.closed()).map((line) => JSON.parse(line) as Reply)
      assert.equal(await status, 0)
      await idle.closed()
      // Exactly the confirmed requests were executed.
      assert.deepEqual(
        answers.map(({id}) => id),
        Array.from({length: answers.length}, (_, i) => i + 1),
      )
      assert.equal((await workspace.status()).total_queued, answers.length + 1)
      await assert.rejects(Peer.connect(t, addr))
    }
  })
})

describe('client that disconnects', () => {
  it('at any time does not affect others', async (t) => {
    const {addr} = await startTestDaemon(t)
    for (let i = 0; i < 20; i++) {
      const peer = await Peer.connect(t, addr)
      for (let n = 0; n < 200; n++)
        peer.send({
          jsonrpc: '2.0',
          id: n,
          method: n % 2 ? 'orch.methods' : 'orch.submit_task',
          params: n % 2 ? {} : external('x'),
        })
      peer.send({jsonrpc: '2.0', id: 0, method: 'orch.events.subscribe', params: {since_id: 0}}, '{"half')
      if (i % 2 === 0) await peer.next()
      peer.socket.resetAndDestroy()
      if (!peer.socket.closed) await once(peer.socket, 'close')
    }
    const peer = await Peer.connect(t, addr)
    assert.ok((await peer.call<{ok: boolean}>('orch.ping')).ok)
  })
})

// Larger backlogs are tested in `load.slow.ts`.
describeEventBacklog({past: 1000, count: 1000, length: 80_000})
