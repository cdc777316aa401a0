import assert from 'node:assert/strict'
import {it} from 'node:test'
import {begin, day, leaseMs, message, type OpenStore, refused, type Story} from './story.js'

/** Claims the messages of agent 2 until all of them are dead. */
async function giveUp(story: Story): Promise<void> {
  while ((await story.claim('n1')) !== undefined) story.clock.advance(leaseMs)
}

const dead = async (story: Story, query: object = {}, scope = '') => {
  const {rows, next} = await story.store.listDead(scope, {limit: 100, ...query})
  return {ids: rows.map(({id}) => id), next}
}

const counts = async ({store}: Story) => {
  const {pending_count: pending, dead_count: dead} = await store.queueStats('')
  return {pending, dead}
}

export function deadMessageConformance(open: OpenStore): void {
  it('are listed newest first, page by page, with the time of death', async (t) => {
    const story = await begin(t, open)
    const ids: number[] = []
    for (let i = 0; i < 5; i++) ids.push(await story.deliver({payload: `${i}`}))
    await giveUp(story)
    await story.deliver()
    await story.deliver({receiver_agent_id: '3'})
    const {rows} = await story.store.listDead('', {limit: 100})
    assert.deepEqual(
      rows.map(({payload, delivery_attempts, acknowledged}) => [payload, delivery_attempts, acknowledged]),
      ['4', '3', '2', '1', '0'].map((payload) => [payload, 16, false]),
    )
    for (const {dead_unix_ms: at, created_unix_ms: from} of rows) assert.ok(at > from && at <= story.clock.wall)
    assert.deepEqual(await dead(story, {limit: 2}), {ids: [ids[4], ids[3]], next: ids[3]})
    assert.deepEqual(await dead(story, {limit: 2, before: ids[3]}), {ids: [ids[2], ids[1]], next: ids[1]})
    assert.deepEqual(await dead(story, {limit: 2, before: ids[1]}), {ids: [ids[0]], next: undefined})
    assert.deepEqual(await dead(story, {limit: 5}), {ids: ids.toReversed(), next: undefined})
    assert.deepEqual(await dead(story, {}, 'other'), {ids: [], next: undefined})
    await story.restart()
    assert.deepEqual((await dead(story)).ids, ids.toReversed())
  })

  it('are listed in pages of limited size', async (t) => {
    const story = await begin(t, open)
    for (let i = 0; i < 3; i++) await story.deliver({payload: 'é'.repeat(10)})
    await giveUp(story)
    assert.deepEqual(await dead(story, {maxBytes: 40}), {ids: [3, 2], next: 2})
    assert.deepEqual(await dead(story, {before: 2, maxBytes: 1}), {ids: [1], next: undefined})
  })

  it('are pending once after repeated retries', async (t) => {
    const story = await begin(t, open)
    const id = await story.deliver({idempotency_key: 'key', task_kind: 'embed'})
    await giveUp(story)
    const retried = {message_ids: [id], not_found: []}
    assert.deepEqual(await story.store.retryDead('', [id, id], 'ann'), retried)
    assert.deepEqual(await counts(story), {pending: 1, dead: 0})
    assert.deepEqual((await dead(story)).ids, [])
    assert.deepEqual(await story.store.retryDead('', [id], 'ann'), retried)
    assert.deepEqual(await story.waiting(), [id])
    await story.restart()
    assert.deepEqual(await counts(story), {pending: 1, dead: 0})
    const found = await story.claim('n1')
    assert.deepEqual([found?.id, found?.delivery_attempts], [id, 1])
    assert.deepEqual(await story.store.retryDead('', [id], 'ann'), retried)
    assert.equal((await story.claim('n1'))?.delivery_attempts, 1, 'the claim stays')
    await story.ack(id, 'n1')
    assert.deepEqual(await story.store.retryDead('', [id], 'ann'), {message_ids: [], not_found: [id]})
    assert.equal(await story.claim('n1'), undefined)
    assert.deepEqual((await story.store.deliver('', message({idempotency_key: 'key'}))).message_id, id)
  })

  it('have their attempts reset by a retry', async (t) => {
    const story = await begin(t, open)
    const id = await story.deliver()
    for (let round = 0; round < 2; round++) {
      for (let attempt = 1; attempt <= 16; attempt++) {
        assert.equal((await story.claim('n1'))?.delivery_attempts, attempt)
        story.clock.advance(leaseMs)
      }
      assert.equal(await story.claim('n1'), undefined)
      assert.deepEqual((await dead(story)).ids, [id])
      await story.store.retryDead('', [id], 'ann')
    }
  })

  it('that are dropped never return, but keep their key', async (t) => {
    const story = await begin(t, open)
    const keyed = message({idempotency_key: 'key'})
    const id = await story.deliver(keyed)
    await giveUp(story)
    const dropped = {message_ids: [id], not_found: []}
    for (let i = 0; i < 2; i++) assert.deepEqual(await story.store.dropDead('', [id], 'ann'), dropped)
    await story.restart()
    assert.deepEqual(await counts(story), {pending: 0, dead: 0})
    assert.deepEqual((await dead(story)).ids, [])
    assert.deepEqual(await story.store.retryDead('', [id], 'ann'), {message_ids: [], not_found: [id]})
    assert.deepEqual(await story.store.deliver('', keyed), {accepted: true, message_id: id, duplicate: true})
    assert.equal(await story.claim('n1'), undefined)
    story.clock.advance(day)
    while (await story.store.purge());
    assert.notEqual((await story.store.deliver('', keyed)).message_id, id)
  })

  it('are found only in their scope', async (t) => {
    const story = await begin(t, open)
    const id = await story.deliver()
    await giveUp(story)
    const waiting = await story.deliver()
    const elsewhere = await story.deliver({}, 'other')
    const named = [elsewhere, id, waiting, 999]
    assert.deepEqual(await story.store.dropDead('', named, 'ann'), {
      message_ids: [id],
      not_found: [elsewhere, waiting, 999],
    })
    assert.deepEqual(await story.store.retryDead('', named, 'ann'), {
      message_ids: [waiting],
      not_found: [elsewhere, id, 999],
    })
    assert.deepEqual(await story.store.retryDead('other', [id], 'ann'), {message_ids: [], not_found: [id]})
    assert.deepEqual(await counts(story), {pending: 1, dead: 0})
  })

  it('are retried atomically if the inbox is full', async (t) => {
    const story = await begin(t, open, {maxMessagesPerReceiver: 2, maxMessages: 3})
    const ids = [await story.deliver(), await story.deliver()]
    await giveUp(story)
    await story.deliver()
    await refused(story.store.retryDead('', ids, 'ann'), 'inbox_full')
    assert.deepEqual(await counts(story), {pending: 1, dead: 2})
    await story.store.retryDead('', ids.slice(1), 'ann')
    await refused(story.store.retryDead('', ids, 'ann'), 'inbox_full')
    await story.ack(ids[1] ?? 0)
    for (let i = 0; i < 2; i++) await story.deliver({receiver_agent_id: '3'})
    await refused(story.store.retryDead('', ids.slice(0, 1), 'ann'), 'inbox_full')
    assert.deepEqual((await dead(story)).ids, ids.slice(0, 1))
  })
}
