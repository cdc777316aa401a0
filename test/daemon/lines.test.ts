import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {setTimeout as sleep} from 'node:timers/promises'
import {Peer, type Reply} from './support/daemon.js'
import {openTestServer} from './support/open-test-server.js'

const jsonRpc = {jsonrpc: '2.0', id: 1, method: 'orch.ping'}
const wrapped = {id: 'a', method: 'orch.ping', params: {}}

describe('line that is not JSON', () => {
  it('is answered in the form of the last valid line, or wrapped', async (t) => {
    const peer = await Peer.connect(t, (await openTestServer(t)).addr)
    const formOf = ({jsonrpc, payload}: Reply) => (jsonrpc === undefined ? payload?.type : jsonrpc)
    const formAfter = async (line: string | object) => {
      await peer.ask<Reply | Reply[]>(line)
      return formOf(await peer.ask('garbage'))
    }
    assert.equal(formOf(await peer.ask('garbage')), 'error')
    assert.equal(await formAfter(jsonRpc), '2.0')
    assert.equal(await formAfter('{}'), '2.0')
    assert.equal(await formAfter(wrapped), 'error')
    assert.equal(await formAfter([jsonRpc]), '2.0')
  })
})

describe('connection with an incomplete line', () => {
  it('is closed after the timeout, even if bytes keep arriving', async (t) => {
    const peer = await Peer.connect(t, (await openTestServer(t, {lineTimeoutMs: 200})).addr)
    await peer.ask(jsonRpc)
    const closed = new Promise((resolve) => peer.socket.once('close', resolve))
    const drip = setInterval(() => peer.socket.write(' '), 10)
    t.after(() => clearInterval(drip))
    await closed
  })

  it('stays open while lines are completed, or without input', async (t) => {
    const {addr} = await openTestServer(t, {lineTimeoutMs: 1000})
    const [busy, idle, slow] = [await Peer.connect(t, addr), await Peer.connect(t, addr), await Peer.connect(t, addr)]
    const line = JSON.stringify(jsonRpc)
    busy.socket.write('{')
    slow.socket.write('{')
    // It always has an incomplete line, but completes each in time.
    while (!slow.socket.closed) {
      assert.equal((await busy.ask(line.slice(1))).id, 1)
      busy.socket.write('{')
      await sleep(20)
    }
    assert.equal((await busy.ask(line.slice(1))).id, 1)
    assert.equal((await idle.ask(jsonRpc)).id, 1)
  })
})
