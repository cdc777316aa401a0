import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {external, Peer, peakMemory, skipWithoutProc, startTestDaemon} from './daemon.js'

export interface EventBacklog {
  /** Tasks that there are before somebody follows events. */
  past: number
  /** Tasks whose events nobody reads for some time. */
  count: number
  /** Of each description. */
  length: number
}

/** Tests of a follower of events that does not read. */
export function describeEventBacklog({past, count, length}: EventBacklog): void {
  describe('a follower of events that does not read', () => {
    it('is told of events when it reads again, all of them and each once', {skip: skipWithoutProc}, async (t) => {
      // In a small heap there is little waste that could be taken for what is kept. The young generation counts too: on
      // Node 24 it grows to a hundred megabytes of its own.
      const env = {NODE_OPTIONS: '--max-old-space-size=96 --max-semi-space-size=1'}
      const {addr, pid} = await startTestDaemon(t, {env, alone: true})
      const writer = await Peer.connect(t, addr)
      const description = 'x'.repeat(length)
      const write = async (count: number) => {
        for (let i = 0; i < count; i++)
          writer.send({jsonrpc: '2.0', id: i, method: 'orch.submit_task', params: external(`${i} ${description}`)})
        await writer.nextOf(count)
      }
      await write(past)
      const before = peakMemory(pid)
      const slow = await Peer.connect(t, addr)
      await slow.call('orch.events.subscribe', {types: ['task_submitted']})
      slow.socket.pause()
      await write(count)
      // Memory only grows while the daemon writes: a call that is answered now comes after all of that.
      await writer.call('orch.ping')
      const grown = peakMemory(pid) - before
      assert.ok(grown < (count * length) / 2, `${grown >> 20} MiB more than before`)
      slow.socket.resume()
      const told = await slow.nextOf(count)
      assert.deepEqual(
        told.map(({params}) => params?.event.kind.task_id),
        Array.from({length: count}, (_, i) => past + i + 1),
      )
    })
  })
}
