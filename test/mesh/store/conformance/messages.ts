import assert from 'node:assert/strict'
import {it} from 'node:test'
import {begin, day, hour, message, type OpenStore, refused, type Story} from './story.js'

export function messageConformance(open: OpenStore): void {
  it('are stored unchanged', async (t) => {
    const story = await begin(t, open)
    const draft = {
      ...message(),
      payload: JSON.stringify({text: 'grüße \u0000 \u{1f600}', nested: ['x'.repeat(100_000)]}),
      idempotency_key: 'key',
      privacy_class: 'private',
      priority: 0,
      task_kind: 'svc_script',
      model_id: 'm',
      traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
      jwe_payload: 'a..b.c.d',
      sender_node_id: 'n1',
    }
    const id = await story.deliver(draft)
    await story.restart()
    assert.deepEqual(await story.store.peek('', {receiver: '2', limit: 5}), [
      {...draft, id, created_unix_ms: story.clock.wall, acknowledged: false, delivery_attempts: 0},
    ])
  })

  it('have payloads of any text', async (t) => {
    const story = await begin(t, open)
    const payloads = ['', 'a \u0000 b', '\\x00', '{"a":"\\u0000"}', '\u{1f600} \u001f \ufeff']
    for (const payload of payloads) await story.deliver({payload, idempotency_key: String(payload.length)})
    const found = await story.store.peek('', {receiver: '2', limit: 9, order: 'asc'})
    assert.deepEqual(
      found.map(({payload}) => payload),
      payloads,
    )
  })

  it('can be read newest or oldest first without being claimed', async (t) => {
    const story = await begin(t, open)
    const ids: number[] = []
    for (let i = 0; i < 9; i++) ids.push(await story.deliver({priority: i, message_type: i % 3 === 0 ? 'a' : 'b'}))
    await story.deliver({receiver_agent_id: '3'})
    await story.claim('n1')
    const {store} = story
    const read = async (query: object) =>
      (await store.peek('', {receiver: '2', limit: 100, ...query})).map(({id}) => ids.indexOf(id))
    assert.deepEqual(await read({}), [8, 7, 6, 5, 4, 3, 2, 1, 0])
    assert.deepEqual(await read({limit: 3}), [8, 7, 6])
    assert.deepEqual(await read({limit: 3, before: ids[6]}), [5, 4, 3])
    assert.deepEqual(await read({order: 'asc', limit: 4}), [0, 1, 2, 3])
    assert.deepEqual(await read({types: ['a']}), [6, 3, 0])
    assert.deepEqual(await read({types: ['a', 'c'], order: 'asc', before: ids[6]}), [0, 3])
    assert.deepEqual(await read({types: []}), [])
    await story.ack(ids[8] ?? 0)
    assert.deepEqual(await read({}), [7, 6, 5, 4, 3, 2, 1, 0])
  })

  it('have increasing ids, even after all were deleted and a restart', async (t) => {
    const story = await begin(t, open)
    const ids: number[] = []
    for (let i = 0; i < 4; i++) {
      ids.push(await story.deliver(), await story.deliver({}, 'other'))
      await story.ack(ids.at(-2) ?? 0)
      story.clock.advance(2 * day)
      while (await story.store.purge());
      await story.restart()
    }
    for (const [i, id] of ids.entries()) assert.ok(id > (ids[i - 1] ?? 0), ids.join(' '))
  })

  it('with the same key are stored once, even after an acknowledgement and a restart', async (t) => {
    const story = await begin(t, open)
    const keyed = message({idempotency_key: 'key'})
    const first = await story.store.deliver('', keyed)
    assert.equal(first.duplicate, undefined)
    const again = {accepted: true, message_id: first.message_id, duplicate: true}
    const later: readonly (() => Promise<unknown>)[] = [
      async () => undefined,
      () => story.restart(),
      () => story.claim('n1'),
      () => story.ack(first.message_id, 'n1'),
      () => story.restart(),
      async () => {
        story.clock.advance(day - 1)
        while (await story.store.purge());
      },
    ]
    for (const happens of later) {
      await happens()
      assert.deepEqual(await story.store.deliver('', keyed), again)
      // Other fields than type and payload may differ.
      assert.deepEqual(await story.store.deliver('', {...keyed, priority: 3}), again)
    }
    story.clock.advance(1)
    while (await story.store.purge());
    const {message_id, duplicate} = await story.store.deliver('', keyed)
    assert.ok(message_id > first.message_id)
    assert.equal(duplicate, undefined)
  })

  it('with a used key and different content are refused and not stored', async (t) => {
    const story = await begin(t, open)
    const key = {idempotency_key: 'key'}
    const id = await story.deliver(key)
    await refused(story.deliver({...key, payload: 'other'}), 'idempotency_key_reused')
    await refused(story.deliver({...key, message_type: 'other'}), 'idempotency_key_reused')
    await refused(story.deliver({...key, message_type: 'free_formh', payload: 'ello'}), 'idempotency_key_reused')
    await story.ack(id)
    await story.restart(hour)
    await refused(story.deliver({...key, payload: 'other'}), 'idempotency_key_reused')
    assert.deepEqual(await story.waiting(), [])
    assert.deepEqual(await story.waiting('3'), [])
  })

  it('have keys that are unique per scope, sender and receiver', async (t) => {
    const story = await begin(t, open)
    const key = {idempotency_key: 'key'}
    const ids = [
      await story.deliver(key),
      await story.deliver({...key, sender_agent_id: '9'}),
      await story.deliver({...key, receiver_agent_id: '9'}),
      await story.deliver(key, 'other'),
      await story.deliver({idempotency_key: 'KEY'}),
      await story.deliver(),
      await story.deliver(),
    ]
    assert.equal(new Set(ids).size, ids.length)
  })

  it('delivered concurrently 500 times with 50 keys are stored 50 times', async (t) => {
    const story = await begin(t, open)
    const deliveries = await Promise.all(
      Array.from({length: 500}, (_, i) =>
        story.store.deliver('', message({idempotency_key: `key ${i % 50}`, payload: `${i % 50}`})),
      ),
    )
    assert.equal(new Set(deliveries.map(({message_id}) => message_id)).size, 50)
    assert.equal(deliveries.filter(({duplicate}) => duplicate === undefined).length, 50)
    assert.equal((await story.waiting()).length, 50)
  })

  it('are refused above the limits per receiver and in total, keeping pending ones', async (t) => {
    const story = await begin(t, open, {maxMessages: 5, maxMessagesPerReceiver: 3})
    const keyed = {idempotency_key: 'key'}
    const ids = [await story.deliver(keyed), await story.deliver(), await story.deliver()]
    await refused(story.deliver(), 'inbox_full')
    assert.equal(await story.deliver(keyed), ids[0])
    await story.claim('n1')
    await refused(story.deliver(), 'inbox_full')
    for (let i = 0; i < 2; i++) {
      await story.deliver({receiver_agent_id: '3'})
      await story.deliver({}, 'other')
    }
    await refused(story.deliver({receiver_agent_id: '4'}), 'inbox_full')
    await story.restart()
    await refused(story.deliver({receiver_agent_id: '4'}), 'inbox_full')
    await refused(story.deliver(), 'inbox_full')
    assert.deepEqual(await story.waiting(), ids.toReversed())
    await story.ack(ids[0] ?? 0)
    await story.deliver()
    await refused(story.deliver({receiver_agent_id: '4'}), 'inbox_full')
  })

  it('are read in pages of limited size', async (t) => {
    const story = await begin(t, open)
    const payload = 'é'.repeat(1_500_000)
    for (let i = 0; i < 4; i++) await story.deliver({payload})
    const look = async (query: object) =>
      (await story.store.peek('', {receiver: '2', limit: 64, ...query})).map(({id}) => id)
    assert.deepEqual(await look({}), [4, 3])
    assert.deepEqual(await look({before: 3}), [2, 1])
    assert.deepEqual(await look({order: 'asc', maxBytes: 9_000_000}), [1, 2, 3])
    assert.deepEqual(await look({maxBytes: 1}), [4], 'one comes however large it is')
  })

  it('are counted with the other objects of a scope', async (t) => {
    const story = await begin(t, open)
    await story.join('elsewhere', {}, 'other')
    await story.join('n2')
    await story.grant('n1', 'task:1')
    await story.grant('n2', 'task:2')
    await story.deliver()
    await story.deliver()
    await story.claim('n1')
    assert.deepEqual(await story.store.counts(''), {nodes: 2, leases: 2, pending: 1, dead: 0})
    assert.deepEqual(await story.store.counts('other'), {nodes: 1, leases: 0, pending: 0, dead: 0})
    await story.restart()
    assert.deepEqual(await story.store.counts(''), {nodes: 2, leases: 2, pending: 1, dead: 0})
    await lapse(story)
    assert.deepEqual(await story.store.counts(''), {nodes: 2, leases: 0, pending: 2, dead: 0})
  })

  it('are counted by kind and priority, and if dead', async (t) => {
    const story = await begin(t, open)
    const counts = async () => ({
      stats: await story.store.queueStats(''),
      all: await story.store.countPending('', {limit: 100}),
      mine: await story.store.countPending('', {receiver: '2', limit: 100}),
      few: await story.store.countPending('', {limit: 2}),
    })
    const nothing = {
      stats: {pending_count: 0, pending_by_kind: {}, pending_by_priority: {}, dead_count: 0},
      all: 0,
      mine: 0,
      few: 0,
    }
    assert.deepEqual(await counts(), nothing)
    const oldest = {oldest_pending_unix_ms: story.clock.wall}
    await story.deliver({task_kind: 'embed', priority: 7})
    story.clock.advance(1000)
    await story.deliver({task_kind: 'embed'})
    const last = await story.deliver({receiver_agent_id: '3'})
    await story.deliver({task_kind: 'embed'}, 'other')
    const before = {
      stats: {
        pending_count: 3,
        pending_by_kind: {embed: 2},
        pending_by_priority: {7: 1, 128: 2},
        dead_count: 0,
        ...oldest,
      },
      all: 3,
      mine: 2,
      few: 2,
    }
    assert.deepEqual(await counts(), before)
    const claimed = await story.claim('n1')
    await story.ack(last, undefined, '3')
    const after = {
      stats: {pending_count: 1, pending_by_kind: {embed: 1}, pending_by_priority: {7: 1}, dead_count: 0, ...oldest},
      all: 1,
      mine: 1,
      few: 1,
    }
    assert.deepEqual(await counts(), after)
    await story.restart()
    assert.deepEqual(await counts(), after)
    await lapse(story)
    assert.equal((await counts()).mine, 2, 'a claim that has run out waits again')
    await story.ack(claimed?.id ?? 0)
    assert.deepEqual(await counts(), after)
  })
}

async function lapse(story: Story): Promise<void> {
  story.clock.advance(120_000)
  assert.equal(story.store.now(), story.clock.wall)
}
