import assert from 'node:assert/strict'
import {it} from 'node:test'
import {begin, day, hour, message, type OpenStore, refused} from './story.js'

export function purgeConformance(open: OpenStore): void {
  it('deletes only expired rows, in steps', async (t) => {
    const story = await begin(t, open)
    const ids = await Promise.all(Array.from({length: 1500}, (_, i) => story.deliver({idempotency_key: `${i}`})))
    const [waiting, ...done] = ids
    await Promise.all(done.map((id) => story.ack(id)))
    const {lease_id: lease} = await story.grant('n1', 'task:1')
    assert.equal(await story.store.purge(), false)
    story.clock.advance(day - hour)
    await story.store.renewLease('', {lease, claimer: 'n1'}).catch(() => undefined)
    while (await story.store.purge());
    const again = (key: number) => story.store.deliver('', message({idempotency_key: `${key}`}))
    assert.equal((await again(1499)).duplicate, true)
    story.clock.advance(hour)
    let parts = 1
    while (await story.store.purge()) parts += 1
    assert.ok(parts > 1, 'it took several parts')
    assert.equal((await again(1)).duplicate, undefined)
    assert.equal((await again(0)).message_id, waiting)
    assert.deepEqual(await story.waiting(), [(await again(1)).message_id, waiting])
  })

  it('never causes a fencing token to be reused', async (t) => {
    const story = await begin(t, open)
    const first = await story.grant('n1', 'task:1')
    await story.store.releaseLease('', {lease: first.lease_id, claimer: 'n1'})
    story.clock.advance(100 * day)
    while (await story.store.purge());
    await refused(story.store.verifyLease('', {lease: first.lease_id, scopeKey: 'task:1'}), 'lease_not_found')
    await story.restart()
    await story.join('n1')
    assert.ok((await story.grant('n1', 'task:1')).fence_token > first.fence_token)
  })

  it('removes nodes not seen for 30 days, but keeps their quarantine', async (t) => {
    const story = await begin(t, open)
    for (const id of ['silent', 'alive', 'barred']) await story.join(id)
    await story.store.setQuarantine('', 'barred', true, 'admin')
    const purge = async () => {
      await story.beat('alive')
      while (await story.store.purge());
      return (await story.nodes()).map(({id}) => id)
    }
    story.clock.advance(30 * day - 1)
    assert.deepEqual(await purge(), ['alive', 'barred', 'n1', 'silent'])
    story.clock.advance(1)
    assert.deepEqual(await purge(), ['alive'])
    await story.restart()
    assert.equal((await story.join('barred')).quarantined, true)
    assert.equal((await story.join('silent')).quarantined, undefined)
    assert.deepEqual(await purge(), ['alive', 'barred', 'silent'])
  })

  it('removes all nodes of a large abandoned mesh', async (t) => {
    const story = await begin(t, open)
    await Promise.all(Array.from({length: 600}, (_, i) => story.join(`m${i}`)))
    story.clock.advance(31 * day)
    await story.join('last')
    let parts = 1
    while (await story.store.purge()) parts += 1
    assert.ok(parts > 1, 'it took several parts')
    assert.deepEqual(
      (await story.nodes()).map(({id}) => id),
      ['last'],
    )
    assert.equal((await story.store.counts('')).nodes, 1)
  })
}
