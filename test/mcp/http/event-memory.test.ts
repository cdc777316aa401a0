import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import type {JSONRPCMessage} from '@modelcontextprotocol/client'
import {EventMemory} from '../../../src/mcp/http/event-memory.js'

const message = (id: number): JSONRPCMessage => ({jsonrpc: '2.0', id, method: 'ping'})

async function replayed(memory: EventMemory, after: string) {
  const sent: unknown[] = []
  const stream = await memory.replayEventsAfter(after, {
    send: async (_id, one) => {
      sent.push((one as {id: number}).id)
    },
  })
  return {stream, sent}
}

describe('EventMemory', () => {
  it('replays only later messages of the same stream', async () => {
    const memory = new EventMemory()
    const ids = []
    for (const [stream, id] of [
      ['a', 1],
      ['b', 2],
      ['a', 3],
      ['a', 4],
    ] as const)
      ids.push(await memory.storeEvent(stream, message(id)))
    assert.deepEqual(await replayed(memory, ids[0] ?? ''), {stream: 'a', sent: [3, 4]})
    assert.deepEqual(await replayed(memory, ids[1] ?? ''), {stream: 'b', sent: []})
    assert.equal(await memory.getStreamIdForEventId(ids[3] ?? ''), 'a')
    for (const wrong of ['', 'a', 'a x', ' 1']) assert.equal(await memory.getStreamIdForEventId(wrong), undefined)
  })

  it('does not replay stream start markers', async () => {
    const memory = new EventMemory()
    const start = await memory.storeEvent('a', message(1))
    await memory.storeEvent('a', {} as JSONRPCMessage)
    await memory.storeEvent('a', message(2))
    assert.deepEqual((await replayed(memory, start)).sent, [2])
  })

  it('discards the oldest messages beyond the limits', async () => {
    const few = new EventMemory({count: 2, bytes: 1 << 20})
    const first = await few.storeEvent('a', message(1))
    for (const id of [2, 3, 4]) await few.storeEvent('a', message(id))
    assert.deepEqual((await replayed(few, first)).sent, [3, 4])
    const small = new EventMemory({count: 100, bytes: 100})
    for (const id of [1, 2, 3, 4]) await small.storeEvent('a', message(id))
    assert.deepEqual((await replayed(small, 'a 0')).sent, [3, 4])
  })

  it('keeps the latest message even if it exceeds the limit', async () => {
    const memory = new EventMemory({count: 100, bytes: 10})
    await memory.storeEvent('a', message(1))
    await memory.storeEvent('a', message(2))
    assert.deepEqual((await replayed(memory, 'a 0')).sent, [2])
  })
})
