import assert from 'node:assert/strict'
import {it} from 'node:test'
import {begin, leaseMs, type OpenStore} from './story.js'

export function auditConformance(open: OpenStore): void {
  it('is listed newest first, page by page, even while entries are added', async (t) => {
    const story = await begin(t, open)
    const {store, clock} = story
    await story.join('n1', {}, 'other')
    for (let i = 0; i < 5; i++) {
      await store.setQuarantine('', 'n1', i % 2 === 0, `admin-${i}`)
      await store.setQuarantine('other', 'n1', true, 'elsewhere')
      clock.advance(1000)
    }
    const first = await store.listAudit('', {limit: 2})
    assert.deepEqual(
      first.rows.map(({at_unix_ms, actor, action, target, detail}) => [at_unix_ms, actor, action, target, detail]),
      [4, 3].map((i) => [clock.wall - (5 - i) * 1000, `admin-${i}`, 'node.quarantine', 'n1', {on: i % 2 === 0}]),
    )
    await store.setQuarantine('', 'n1', false, 'late')
    const actors: string[] = []
    for (let before = first.next; before !== undefined; ) {
      const {rows, next} = await store.listAudit('', {limit: 2, before})
      for (const {id, actor} of rows) {
        assert.ok(id < before)
        actors.push(actor)
      }
      before = next
    }
    assert.deepEqual(actors, ['admin-2', 'admin-1', 'admin-0'])
    assert.deepEqual((await store.listAudit('', {limit: 1})).rows[0]?.actor, 'late')
    assert.deepEqual(await store.listAudit('nowhere', {limit: 9}), {rows: []})
  })

  it('records retries and drops of dead messages once', async (t) => {
    const story = await begin(t, open)
    const ids = [await story.deliver(), await story.deliver()]
    while ((await story.claim('n1')) !== undefined) story.clock.advance(leaseMs)
    for (let i = 0; i < 2; i++) {
      await story.store.retryDead('', ids.slice(0, 1), 'ann')
      await story.store.dropDead('', ids.slice(1), 'bob')
    }
    const {rows} = await story.store.listAudit('', {limit: 9})
    const detail = {receiver_agent_id: '2', message_type: 'free_form', delivery_attempts: 16}
    assert.deepEqual(
      rows.map(({actor, action, target, detail}) => [actor, action, target, detail]),
      [
        ['bob', 'message.dropped', String(ids[1]), detail],
        ['ann', 'message.retried', String(ids[0]), detail],
        ['store', 'message.dead', String(ids[1]), detail],
        ['store', 'message.dead', String(ids[0]), detail],
      ],
    )
  })
}
