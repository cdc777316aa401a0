import assert from 'node:assert/strict'
import {it} from 'node:test'
import {requirementCases} from '../../protocol/requirement-cases.js'
import {begin, day, leaseMs, type OpenStore, refused} from './story.js'

export function claimConformance(open: OpenStore): void {
  it('return one message per node, by priority and age', async (t) => {
    const story = await begin(t, open)
    const priorities = [128, 255, 0, 255, 128]
    const ids: number[] = []
    for (const priority of priorities) ids.push(await story.deliver({priority}))
    const order: (number | undefined)[] = []
    for (let i = 0; i < 6; i++) {
      await story.join(`m${i}`)
      const found = await story.claim(`m${i}`)
      order.push(found?.id)
      if (found === undefined) continue
      assert.equal(found.lease_holder_node_id, `m${i}`)
      assert.equal(found.lease_expires_unix_ms, story.clock.wall + leaseMs)
      assert.equal(found.delivery_attempts, 1)
    }
    assert.deepEqual(order, [1, 3, 0, 4, 2].map((i) => ids[i]).concat(undefined))
  })

  it('return the same message to its holder, or another one if it is excluded', async (t) => {
    const story = await begin(t, open)
    const first = await story.deliver()
    const second = await story.deliver({message_type: 'other'})
    const urgent = async () => (await story.store.claim('', {claimer: 'n1', receiver: '2'}))?.id
    assert.equal(await urgent(), first)
    await story.deliver({priority: 255})
    const again = await story.claim('n1')
    assert.deepEqual([again?.id, again?.delivery_attempts], [first, 1])
    const claim = (query: object) => story.store.claim('', {claimer: 'n1', receiver: '2', ...query})
    assert.equal((await claim({types: ['other']}))?.id, second)
    assert.equal((await claim({exclude: [first, second]}))?.priority, 255)
    assert.equal(await claim({types: ['none']}), undefined)
    assert.equal(await claim({types: ['other'], exclude: [second]}), undefined)
  })

  it('restart and count an attempt when a node claims its message again later', async (t) => {
    const story = await begin(t, open)
    const id = await story.deliver()
    const start = story.clock.wall
    /** Time of the claim after the first one (ms), attempt number, and end of the claim. */
    const asked: readonly (readonly [at: number, attempt: number, until: number])[] = [
      [0, 1, leaseMs],
      [leaseMs / 4, 1, (leaseMs * 5) / 4],
      [leaseMs / 4 + 1, 2, (leaseMs * 5) / 4 + 1],
      [leaseMs / 2, 2, (leaseMs * 3) / 2],
      [leaseMs, 3, 2 * leaseMs],
    ]
    for (const [at, attempt, until] of asked) {
      story.clock.advance(start + at - story.clock.wall)
      const found = await story.claim('n1')
      assert.deepEqual(
        [found?.id, found?.delivery_attempts, (found?.lease_expires_unix_ms ?? 0) - start],
        [id, attempt, until],
      )
    }
  })

  it('are limited even if a node claims its message repeatedly at short intervals', async (t) => {
    const story = await begin(t, open)
    await story.deliver()
    const next = await story.deliver({priority: 1})
    let tries = 0
    while ((await story.claim('n1'))?.id !== next) {
      story.clock.advance(leaseMs / 20)
      tries += 1
      assert.ok(tries < 200, 'it was never given up')
    }
    assert.ok(tries >= 16)
    const {dead_count, pending_count} = await story.store.queueStats('')
    assert.deepEqual([dead_count, pending_count], [1, 0])
  })

  it('expire, so that another node can claim the message', async (t) => {
    const story = await begin(t, open)
    await story.join('n2')
    const id = await story.deliver()
    await story.claim('n1')
    assert.equal(await story.claim('n2'), undefined)
    story.clock.advance(leaseMs - 1)
    assert.equal(await story.claim('n2'), undefined)
    await story.store.renewClaim('', {receiver: '2', message: id, claimer: 'n1'})
    story.clock.advance(leaseMs)
    const [waiting] = await story.store.peek('', {receiver: '2', limit: 1})
    assert.equal(waiting?.lease_holder_node_id, undefined)
    const found = await story.claim('n2')
    assert.deepEqual([found?.id, found?.delivery_attempts], [id, 2])
    await refused(story.store.renewClaim('', {receiver: '2', message: id, claimer: 'n1'}), 'not_lease_holder')
    await refused(story.ack(id, 'n1'), 'not_lease_holder')
    await story.ack(id, 'n2')
    await story.ack(id, 'n1')
    assert.equal(await story.claim('n1'), undefined)
  })

  it('cannot be renewed after expiry', async (t) => {
    const story = await begin(t, open)
    const id = await story.deliver()
    await story.claim('n1')
    story.clock.advance(leaseMs)
    await refused(story.store.renewClaim('', {receiver: '2', message: id, claimer: 'n1'}), 'not_lease_holder')
    assert.equal((await story.claim('n1'))?.delivery_attempts, 2)
  })

  it('fail for unknown messages and other receivers', async (t) => {
    const story = await begin(t, open)
    await story.join('n1', {}, 'other')
    const id = await story.deliver()
    await story.claim('n1')
    const {store} = story
    for (const [scope, receiver, message] of [
      ['', '2', id + 1],
      ['', '3', id],
      ['other', '2', id],
    ] as const) {
      await refused(store.ack(scope, {receiver, message}), 'message_not_found')
      await refused(store.ack(scope, {receiver, message, claimer: 'n1'}), 'message_not_found')
      await refused(store.renewClaim(scope, {receiver, message, claimer: 'n1'}), 'message_not_found')
    }
    assert.equal(await story.claim('n1', '2', 'other'), undefined)
    await refused(story.claim('nobody'), 'unknown_node')
    await refused(store.renewClaim('', {receiver: '2', message: id, claimer: 'nobody'}), 'unknown_node')
    await story.ack(id)
    await refused(store.renewClaim('', {receiver: '2', message: id, claimer: 'n1'}), 'message_not_found')
  })

  it('never return an acknowledged message', async (t) => {
    const story = await begin(t, open)
    const id = await story.deliver()
    await story.claim('n1')
    await story.ack(id, 'n1')
    await story.ack(id, 'n1')
    await story.ack(id)
    for (const down of [0, leaseMs, day]) {
      await story.restart(down)
      assert.equal(await story.claim('n1'), undefined)
      assert.deepEqual(await story.waiting(), [])
    }
  })

  it('return each message to one of many concurrent claimers', async (t) => {
    const story = await begin(t, open)
    const nodes = Array.from({length: 120}, (_, i) => `m${i}`)
    await Promise.all(nodes.map((id) => story.join(id)))
    await Promise.all(Array.from({length: 100}, (_, i) => story.deliver({priority: i})))
    const claims = await Promise.all(nodes.map((id) => story.claim(id)))
    const claimed = claims.flatMap((found) => (found === undefined ? [] : [found.id]))
    assert.equal(claimed.length, 100)
    assert.equal(new Set(claimed).size, 100)
  })

  /** Permitted visibilities per privacy class; the default visibility is `private`. */
  const policy: Readonly<Record<string, readonly (undefined | 'private' | 'hybrid' | 'public')[]>> = {
    none: [undefined, 'private', 'hybrid', 'public'],
    public: ['hybrid', 'public'],
    private: [undefined, 'private', 'hybrid'],
    trusted: [undefined, 'private', 'hybrid'],
    trusted_only: [undefined, 'private', 'hybrid'],
    anything: [undefined, 'private', 'hybrid', 'public'],
  }
  for (const [privacy, allowed] of Object.entries(policy))
    it(`respect the privacy class ${privacy}`, async (t) => {
      const story = await begin(t, open)
      const draft = privacy === 'none' ? {} : {privacy_class: privacy}
      const id = await story.deliver({...draft, priority: 200})
      const other = await story.deliver()
      for (const visibility of [undefined, 'private', 'hybrid', 'public'] as const) {
        await story.join('n1', visibility === undefined ? {} : {visibility})
        const found = await story.claim('n1')
        assert.equal(found?.id, allowed.includes(visibility) ? id : other, `visibility ${visibility}`)
        story.clock.advance(leaseMs)
      }
    })

  for (const [requirements, able, unable] of requirementCases)
    it(`respect the requirements ${JSON.stringify(requirements)}`, async (t) => {
      const story = await begin(t, open)
      const id = await story.deliver({requirements, priority: 200})
      const other = await story.deliver()
      await story.join('unable', {capabilities: unable ?? {}})
      assert.equal((await story.claim('unable'))?.id, unable === undefined ? id : other)
      if (unable === undefined) return
      await story.restart()
      await story.join('able', {capabilities: able})
      const found = await story.claim('able')
      assert.deepEqual([found?.id, found?.requirements], [id, requirements])
    })

  it('compare requirements with the last reported capabilities', async (t) => {
    const story = await begin(t, open)
    const id = await story.deliver({requirements: {npu: true}})
    assert.equal(await story.claim('n1'), undefined)
    assert.deepEqual(await story.waiting(), [id], 'a peek ignores requirements')
    await story.beat('n1', {capabilities: {npu: true}})
    assert.equal((await story.claim('n1'))?.id, id)
    await story.beat('n1', {capabilities: {}})
    assert.equal((await story.claim('n1'))?.id, id, 'the node still holds the message')
  })

  it('skip messages of excluded senders', async (t) => {
    const story = await begin(t, open)
    const own = await story.deliver({sender_agent_id: '7', priority: 255})
    const other = await story.deliver({sender_agent_id: '8'})
    const claim = (excludeSenders: string[]) => story.store.claim('', {claimer: 'n1', receiver: '2', excludeSenders})
    assert.equal(await claim(['7', '8']), undefined)
    assert.equal((await claim(['7']))?.id, other)
    assert.equal((await claim(['8']))?.id, own)
  })

  it('respect a visibility changed by a heartbeat', async (t) => {
    const story = await begin(t, open)
    await story.deliver({privacy_class: 'public'})
    assert.equal(await story.claim('n1'), undefined)
    await story.beat('n1', {visibility: 'public'})
    assert.notEqual(await story.claim('n1'), undefined)
  })

  it('mark a message as dead after 16 attempts and record it', async (t) => {
    const story = await begin(t, open)
    const id = await story.deliver({task_kind: 'embed'})
    const next = await story.deliver({priority: 1})
    for (let attempt = 1; attempt <= 16; attempt++) {
      const found = await story.claim('n1')
      assert.deepEqual([found?.id, found?.delivery_attempts], [id, attempt])
      if (attempt % 5 === 0) await story.restart()
      story.clock.advance(leaseMs)
    }
    assert.equal((await story.claim('n1'))?.id, next)
    assert.deepEqual(await story.waiting(), [next])
    const {dead_count, pending_by_kind} = await story.store.queueStats('')
    assert.deepEqual([dead_count, pending_by_kind], [1, {}])
    await refused(story.store.renewClaim('', {receiver: '2', message: id, claimer: 'n1'}), 'message_not_found')
    await story.restart()
    assert.equal((await story.store.queueStats('')).dead_count, 1)
    await story.ack(id)
    assert.equal((await story.store.queueStats('')).dead_count, 0)
  })

  it('free inbox capacity when messages become dead', async (t) => {
    const story = await begin(t, open, {maxMessagesPerReceiver: 1})
    await story.deliver()
    for (let attempt = 1; attempt <= 16; attempt++) {
      await story.claim('n1')
      story.clock.advance(leaseMs)
    }
    await refused(story.deliver(), 'inbox_full')
    assert.equal(await story.claim('n1'), undefined)
    await story.deliver()
  })
}
