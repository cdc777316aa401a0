import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {external, Peer, peakMemory, skipWithoutProc, startTestDaemon} from './daemon.js'

export interface EventBacklog {
  /** Number of tasks before the subscription. */
  past: number
  /** Number of tasks whose events are not read for some time. */
  count: number
  /** Length of each description, characters. */
  length: number
}

/** Tests of a subscriber that does not read. */
export function describeEventBacklog({past, count, length}: EventBacklog): void {
  describe('subscriber that does not read', () => {
    it('receives all events once when it reads again', {skip: skipWithoutProc}, async (t) => {
      // With a small heap, garbage cannot be mistaken for retained memory. The young generation is limited as well, because
      // it grows to 100 MB on Node.js 24.
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
      // A request answered now proves that the daemon has finished writing.
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
