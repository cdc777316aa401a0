import assert from 'node:assert/strict'
import {it} from 'node:test'
import type {NodeFacts} from '../../../../src/mesh/protocol/node.js'
import type {Maintenance} from '../../../../src/mesh/store/mesh-store.js'
import {begin, day, endOf, hour, minute, type OpenStore, refused} from './story.js'

const rig: Omit<NodeFacts, 'id'> = {
  version: '0.4.1',
  capabilities: {gpu_cuda: true, labels: ['pool=train'], hostname: 'rig "one"'},
  listen_addr: 'http://10.0.0.7:9848',
  visibility: 'hybrid',
  gpu_total_count: 2,
  cpu_usage_pct: 12.5,
  memory_free_bytes: 68_719_476_736,
}

export function nodeConformance(open: OpenStore): void {
  it('are stored as reported, with the members set by the store', async (t) => {
    const story = await begin(t, open)
    const joined = await story.join('rig', rig, 'scope "a"')
    const expected = {
      id: 'rig',
      ...rig,
      last_seen_unix_ms: story.clock.wall,
      trust_tier: 'trusted',
      scope_id: 'scope "a"',
    }
    assert.deepEqual(joined, expected)
    await story.restart()
    assert.deepEqual(await story.nodes('scope "a"'), [expected])
  })

  it('cannot report members reserved for the store', async (t) => {
    const story = await begin(t, open)
    const lies = {
      last_seen_unix_ms: 1,
      trust_tier: 'probation',
      quarantined: true,
      maintenance: true,
      maintenance_until_unix_ms: 9e15,
      scope_id: 'elsewhere',
    }
    const honest = await story.join('honest')
    const {id: _, ...node} = await story.join('liar', lies as Partial<NodeFacts>)
    assert.deepEqual({id: 'honest', ...node}, honest)
    await story.store.heartbeat('', {
      facts: {id: 'liar', version: '1.0.0', capabilities: {}, ...lies} as NodeFacts,
      isFull: true,
    })
    assert.deepEqual({...(await story.node('liar')), id: 'honest'}, honest)
  })

  it('replace their record by joining again, except maintenance and quarantine', async (t) => {
    const story = await begin(t, open)
    await story.join('rig', rig)
    await story.store.setMaintenance('', 'rig', {on: true}, 'admin')
    await story.store.setQuarantine('', 'rig', true, 'admin')
    const again = await story.join('rig')
    assert.deepEqual(again, {
      id: 'rig',
      version: '1.0.0',
      capabilities: {},
      last_seen_unix_ms: story.clock.wall,
      trust_tier: 'trusted',
      maintenance: true,
      quarantined: true,
    })
  })

  it('update last-seen time and load with a short heartbeat', async (t) => {
    const story = await begin(t, open)
    const before = await story.join('rig', rig)
    story.clock.advance(15_000)
    const after = await story.beat('rig', {cpu_usage_pct: 99})
    assert.deepEqual(after, {...before, cpu_usage_pct: 99, last_seen_unix_ms: story.clock.wall})
    assert.deepEqual(await story.node('rig'), after)
    await story.restart()
    assert.deepEqual(await story.node('rig'), after)
  })

  it('update only the members of a heartbeat', async (t) => {
    const story = await begin(t, open)
    const before = await story.join('rig', rig)
    const news: Partial<NodeFacts> = {
      version: '0.5.0',
      capabilities: {gpu_cuda: false, labels: ['pool=infer']},
      listen_addr: 'http://10.0.0.8:9848',
      visibility: 'public',
      gpu_total_count: 4,
      gpu_healthy_count: 3,
      gpu_allocatable_count: 0,
      gpu_readiness_ok: false,
      gpu_truth_layer: 'layer_b_allocatable',
      cpu_usage_pct: 3,
      memory_free_bytes: 0,
      running_tasks: 1,
      loaded_llm_models: ['m'],
    }
    const after = await story.beat('rig', news)
    assert.deepEqual(after, {...before, ...news})
    await story.restart()
    assert.deepEqual(await story.node('rig'), after)
  })

  it('are added by a full heartbeat, but not by a short one', async (t) => {
    const story = await begin(t, open)
    await refused(story.beat('new'), 'node_not_found')
    const facts = {id: 'new', version: '1.0.0', capabilities: {}}
    const {record, nodeCount} = await story.store.heartbeat('', {facts, isFull: true})
    assert.equal(JSON.parse(record).id, 'new')
    assert.equal(nodeCount, 2)
    await story.restart()
    assert.equal((await story.store.heartbeat('', {facts: {id: 'new'}, isFull: false})).nodeCount, 2)
  })

  it('ignore late requests', async (t) => {
    const story = await begin(t, open)
    const beat = async (incarnation: number, seq: number, cpu: number) =>
      JSON.parse(
        (
          await story.store.heartbeat('', {
            facts: {id: 'rig', cpu_usage_pct: cpu},
            isFull: false,
            incarnation,
            seq,
          })
        ).record,
      )
    await story.store.join('', {id: 'rig', ...rig}, {incarnation: 7, seq: 0})
    story.clock.advance(1000)
    const latest = await beat(7, 5, 50)
    story.clock.advance(1000)
    assert.deepEqual(await beat(7, 4, 40), latest)
    assert.deepEqual(await beat(7, 5, 55), latest)
    const old = {id: 'rig', version: '0.0.1', capabilities: {}}
    assert.deepEqual(JSON.parse(await story.store.join('', old, {incarnation: 7, seq: 0})), latest)
    await story.restart()
    assert.deepEqual(await beat(7, 3, 30), latest)
    assert.equal((await beat(7, 6, 60)).cpu_usage_pct, 60)
  })

  it('belong to the newest process, and refuse superseded ones', async (t) => {
    const story = await begin(t, open)
    const facts = {id: 'rig', version: '1.0.0', capabilities: {}}
    const join = (incarnation: number) => story.store.join('', facts, {incarnation, seq: 0})
    const newest = 9
    for (let incarnation = 1; incarnation <= newest; incarnation++) await join(incarnation)
    for (const isAgain of [false, true]) {
      if (isAgain) await story.restart()
      for (let incarnation = 1; incarnation < newest; incarnation++)
        await refused(join(incarnation), 'duplicate_node_id')
      await story.store.heartbeat('', {facts: {id: 'rig'}, isFull: false, incarnation: newest, seq: 1})
    }
  })

  it('belong to the newest process until it is silent', async (t) => {
    const story = await begin(t, open)
    const facts = {id: 'rig', version: '1.0.0', capabilities: {}}
    const beat = (incarnation: number, seq: number) =>
      story.store.heartbeat('', {facts, isFull: true, incarnation, seq})
    await story.store.join('', facts, {incarnation: 1, seq: 0})
    await story.store.join('', facts, {incarnation: 2, seq: 0})
    await refused(beat(1, 1), 'duplicate_node_id')
    await refused(story.store.join('', facts, {incarnation: 1, seq: 2}), 'duplicate_node_id')
    await beat(2, 1)
    await story.restart()
    await refused(beat(1, 3), 'duplicate_node_id')
    story.clock.advance(10 * minute)
    await beat(1, 4)
    await refused(beat(2, 2), 'duplicate_node_id')
  })

  it('are separated by scope', async (t) => {
    const story = await begin(t, open)
    await story.join('rig', {cpu_usage_pct: 1}, 'a')
    await refused(story.store.heartbeat('b', {facts: {id: 'rig'}, isFull: false}), 'node_not_found')
    await refused(story.store.leave('b', 'rig'), 'node_not_found')
    await refused(story.store.setQuarantine('b', 'rig', true, 'admin'), 'node_not_found')
    await story.join('rig', {cpu_usage_pct: 2}, 'b')
    await story.store.setQuarantine('b', 'rig', true, 'admin')
    assert.deepEqual(
      [await story.node('rig', 'a'), await story.node('rig', 'b')].map((node) => [
        node?.cpu_usage_pct,
        node?.quarantined,
      ]),
      [
        [1, undefined],
        [2, true],
      ],
    )
  })

  it('release leases and messages when they leave', async (t) => {
    const story = await begin(t, open)
    await story.join('n2')
    const held = await story.grant('n1', 'task:1')
    const id = await story.deliver()
    await story.claim('n1')
    await story.store.leave('', 'n1')
    await refused(story.store.leave('', 'n1'), 'node_not_found')
    await refused(story.beat('n1'), 'node_not_found')
    assert.deepEqual(await story.store.listLeases(''), [])
    await refused(story.store.verifyLease('', {lease: held.lease_id, scopeKey: 'task:1'}), 'lease_not_found')
    assert.equal((await story.claim('n2'))?.id, id)
    assert.ok(Number((await story.grant('n2', 'task:1')).lease_id) > Number(held.lease_id))
  })

  it('stay in quarantine after leaving, joining and restarts', async (t) => {
    const story = await begin(t, open)
    await story.store.setQuarantine('', 'n1', true, 'admin')
    const comebacks: readonly (() => Promise<unknown>)[] = [
      () => story.join('n1'),
      async () => {
        await story.store.leave('', 'n1')
        assert.equal(await story.node('n1'), undefined)
        await story.join('n1')
      },
      async () => {
        await story.store.leave('', 'n1')
        await story.restart()
        await story.store.heartbeat('', {facts: {id: 'n1', version: '1.0.0', capabilities: {}}, isFull: true})
      },
      () => story.restart(day),
    ]
    for (const comeBack of comebacks) {
      await comeBack()
      assert.equal((await story.node('n1'))?.quarantined, true)
      await refused(story.grant('n1', 'task:1'), 'node_quarantined')
    }
    await story.store.leave('', 'n1')
    await story.store.setQuarantine('', 'n1', false, 'admin')
    await refused(story.store.setQuarantine('', 'n1', true, 'admin'), 'node_not_found')
    await story.join('n1')
    await story.grant('n1', 'task:1')
  })

  /** Results of operations by condition of the node. */
  const gates: readonly [condition: string, expected: Readonly<Record<string, string>>][] = [
    ['none', {grant: 'ok', renew: 'ok', release: 'ok', claim: 'a message', renewClaim: 'ok', ack: 'ok'}],
    [
      'maintenance',
      {grant: 'node_maintenance', renew: 'ok', release: 'ok', claim: 'nothing', renewClaim: 'ok', ack: 'ok'},
    ],
    [
      'quarantine',
      {
        grant: 'node_quarantined',
        renew: 'node_quarantined',
        release: 'ok',
        claim: 'nothing',
        renewClaim: 'node_quarantined',
        ack: 'ok',
      },
    ],
    [
      'left',
      {
        grant: 'unknown_node',
        renew: 'unknown_node',
        release: 'unknown_node',
        claim: 'unknown_node',
        renewClaim: 'unknown_node',
        ack: 'ok',
      },
    ],
  ]
  for (const [condition, expected] of gates)
    it(`in the condition ${condition} can do what it permits`, async (t) => {
      const story = await begin(t, open)
      const {store} = story
      const {lease_id: lease} = await story.grant('n1', 'task:1')
      const message = await story.deliver()
      await story.claim('n1')
      await story.deliver({receiver_agent_id: '3'})
      if (condition === 'maintenance') await store.setMaintenance('', 'n1', {on: true}, 'admin')
      if (condition === 'quarantine') await store.setQuarantine('', 'n1', true, 'admin')
      if (condition === 'left') await store.leave('', 'n1')
      const claim = async () => ((await story.claim('n1', '3')) === undefined ? 'nothing' : 'a message')
      assert.deepEqual(
        {
          grant: await endOf(story.grant('n1', 'task:2')),
          renew: await endOf(store.renewLease('', {lease, claimer: 'n1'})),
          release: await endOf(store.releaseLease('', {lease, claimer: 'n1'})),
          claim: await claim().catch(({code}) => code),
          renewClaim: await endOf(store.renewClaim('', {receiver: '2', message, claimer: 'n1'})),
          ack: await endOf(story.ack(message, 'n1')),
        },
        expected,
      )
    })

  const untilTomorrow = 1_767_225_600_000 + day
  /** Duration of maintenance, ms. */
  const deadlines: readonly [maintenance: Maintenance, ms: number][] = [
    [{on: true, untilMs: untilTomorrow}, day],
    [{on: true, forMs: 10 * minute}, 10 * minute],
    [{on: true, forMs: 30 * day}, 7 * day],
    [{on: true, untilMs: untilTomorrow, forMs: minute}, day],
    [{on: true, untilMs: 1, forMs: minute}, minute],
    [{on: true, untilMs: 1}, Number.POSITIVE_INFINITY],
    [{on: true}, Number.POSITIVE_INFINITY],
    [{on: false, forMs: minute}, 0],
  ]
  for (const [maintenance, ms] of deadlines)
    it(`are in maintenance for ${ms} ms by ${JSON.stringify(maintenance)}`, async (t) => {
      const story = await begin(t, open)
      const since = story.clock.wall
      await story.store.setMaintenance('', 'n1', maintenance, 'admin')
      const until = Number.isFinite(ms) && ms > 0 ? since + ms : undefined
      const {maintenance: is, maintenance_until_unix_ms: end} = (await story.node('n1')) ?? {}
      assert.deepEqual([is ?? false, end], [ms > 0, until])
      if (until === undefined) return
      story.clock.advance(ms - 1)
      await refused(story.grant('n1', 'task:1'), 'node_maintenance')
      assert.equal((await story.beat('n1')).maintenance, true)
      story.clock.advance(1)
      assert.equal((await story.beat('n1')).maintenance, undefined)
      await story.grant('n1', 'task:1')
    })

  it('can start in maintenance, but cannot change it by joining again', async (t) => {
    const story = await begin(t, open)
    const facts = {id: 'rig', version: '1.0.0', capabilities: {}}
    await story.store.join('', facts, {maintenance: {on: true, forMs: hour}})
    await story.store.join('', facts, {maintenance: {on: false}})
    assert.equal((await story.node('rig'))?.maintenance, true)
    await story.store.setMaintenance('', 'rig', {on: false}, 'admin')
    await story.store.join('', facts, {maintenance: {on: true}})
    assert.equal((await story.node('rig'))?.maintenance, undefined)
    await refused(story.store.setMaintenance('', 'nobody', {on: true}, 'admin'), 'node_not_found')
  })

  it('are counted in the result of every heartbeat', async (t) => {
    const story = await begin(t, open)
    const count = async () => (await story.store.heartbeat('', {facts: {id: 'n1'}, isFull: false})).nodeCount
    const counts = [await count()]
    await Promise.all(Array.from({length: 20}, (_, i) => story.join(`m${i}`)))
    await story.join('elsewhere', {}, 'other')
    counts.push(await count())
    await story.store.setQuarantine('', 'm1', true, 'admin')
    await Promise.all([story.store.leave('', 'm0'), story.store.leave('', 'm1')])
    counts.push(await count())
    await story.restart()
    counts.push(await count())
    assert.deepEqual(counts, [1, 21, 19, 19])
  })
}
