import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {FairQueue, type RequestClient} from '../../src/llm/fair-queue.js'

const clientOf = (id: string, weight = 1): RequestClient => ({id, weight, share: 1})

/** Takes requests that cost some tokens each, and returns how many of the first ones were of which client. */
function served(queue: FairQueue<{client: RequestClient; cost: number}>, count: number): Record<string, number> {
  const counts: Record<string, number> = {}
  for (let i = 0; i < count; i++) {
    const item = queue.take()
    if (item === undefined) break
    queue.charge(item.client, item.cost)
    counts[item.client.id] = (counts[item.client.id] ?? 0) + 1
  }
  return counts
}

describe('FairQueue', () => {
  const fill = (
    queue: FairQueue<{client: RequestClient; cost: number}>,
    client: RequestClient,
    n: number,
    cost = 10,
  ) => {
    for (let i = 0; i < n; i++) queue.add({client, cost})
  }

  it('keeps the order of the requests of one client', () => {
    const queue = new FairQueue<{client: RequestClient; n: number}>()
    for (const n of [1, 2, 3]) queue.add({client: clientOf('a'), n})
    assert.deepEqual([queue.take()?.n, queue.take()?.n, queue.take()?.n, queue.take()], [1, 2, 3, undefined])
  })

  it('continues with a request that was put back', () => {
    const queue = new FairQueue<{client: RequestClient; n: number}>()
    for (const n of [1, 2]) queue.add({client: clientOf('a'), n})
    const first = queue.take()
    assert.ok(first)
    queue.putBack(first)
    assert.deepEqual([queue.length, queue.next()?.n, queue.take()?.n, queue.take()?.n], [2, 1, 1, 2])
  })

  it('shares tokens equally, whatever the number of requests', () => {
    const queue = new FairQueue<{client: RequestClient; cost: number}>()
    fill(queue, clientOf('many'), 100)
    fill(queue, clientOf('few'), 10)
    assert.deepEqual(served(queue, 20), {many: 10, few: 10})
    assert.deepEqual(served(queue, 1000), {many: 90})
  })

  it('shares tokens, not requests', () => {
    const queue = new FairQueue<{client: RequestClient; cost: number}>()
    fill(queue, clientOf('long'), 100, 90)
    fill(queue, clientOf('short'), 1000, 10)
    const {long = 0, short = 0} = served(queue, 100)
    assert.deepEqual([long, short], [10, 90])
  })

  it('shares by weight', () => {
    const queue = new FairQueue<{client: RequestClient; cost: number}>()
    fill(queue, clientOf('heavy', 3), 100)
    fill(queue, clientOf('light'), 100)
    assert.deepEqual(served(queue, 40), {heavy: 30, light: 10})
  })

  it('does not make up for the time in which a client sent nothing', () => {
    const queue = new FairQueue<{client: RequestClient; cost: number}>()
    fill(queue, clientOf('old'), 1000)
    served(queue, 500)
    fill(queue, clientOf('new'), 1000)
    assert.deepEqual(served(queue, 20), {old: 10, new: 10})
  })

  it('forgets requests that are deleted', () => {
    const queue = new FairQueue<{client: RequestClient; cost: number}>()
    const gone = {client: clientOf('a'), cost: 1}
    queue.add(gone)
    queue.add({client: clientOf('a'), cost: 2})
    queue.delete(gone)
    assert.deepEqual([queue.length, queue.take()?.cost, queue.length], [1, 2, 0])
  })
})
