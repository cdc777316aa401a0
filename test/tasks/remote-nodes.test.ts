import assert from 'node:assert/strict'
import {describe, it, type TestContext} from 'node:test'
import type {NodeRecord} from '../../src/mesh/index.js'
import {spawnAgent} from '../../src/orchestrator/index.js'
import {
  deleteNodePoll,
  federationCache,
  readEvents,
  remoteNodes,
  replayRoutes,
  requireTask,
  writeNodePoll,
} from '../../src/tasks/index.js'
import {isGpuEligible, isSchedulable} from '../../src/tasks/routing/remote.js'
import {type Capabilities, noCapabilities} from '../../src/workspace/capabilities.js'
import {openTestOrchestrator, startMs, type TestOrchestrator} from '../orchestrator/support/open-test-orchestrator.js'
import {startOne, submit} from '../orchestrator/support/tasks.js'

/** Time on the clock of the control plane, one hour ahead of this machine; Unix ms. */
const listedAtMs = startMs + 3_600_000
const usableMs = 90_000

const node = (id: string, more: object = {}): NodeRecord =>
  ({id, version: '1', capabilities: {}, last_seen_unix_ms: listedAtMs, ...more}) as NodeRecord

const write = (orchestrator: TestOrchestrator, nodes: NodeRecord[], ownIds: readonly string[] = []) =>
  writeNodePoll(orchestrator, {
    usableMs,
    registry: {schema_version: 1, nodes},
    listedAtMs,
    ownIds: new Set(ownIds),
  })

/** A workspace after a poll that listed these nodes. */
async function polled(t: TestContext, nodes: NodeRecord[], toml = '') {
  const orchestrator = await openTestOrchestrator(t, {toml})
  write(orchestrator, nodes)
  return orchestrator
}

/** Adds an agent with capabilities of its own. */
function spawnWith(orchestrator: TestOrchestrator, name: string, capabilities: Partial<Capabilities>) {
  const agent = spawnAgent(orchestrator, {name})
  orchestrator.store.run('UPDATE orch_agents SET capabilities = ? WHERE id = ?', [
    JSON.stringify({...noCapabilities, ...capabilities}),
    agent.id,
  ])
  return agent
}

const idsOf = (orchestrator: TestOrchestrator) => remoteNodes(orchestrator)?.nodes.map(({nodeId}) => nodeId)

const gpu = {capabilities: {gpu_cuda: true, min_vram_mb: 24_576, labels: ['pool=train', 'region=eu']}}

describe('the nodes of the last poll', () => {
  it('have the capabilities and GPU counts that they reported', async (t) => {
    const orchestrator = await polled(t, [node('a', {...gpu, gpu_total_count: 2, gpu_readiness_ok: true}), node('b')])
    const {fetchedAtMs, nodes, isTruncated} = remoteNodes(orchestrator) ?? assert.fail()
    const [a, b] = nodes
    assert.deepEqual([fetchedAtMs, isTruncated, nodes.length], [startMs, false, 2])
    assert.ok(a !== undefined && b !== undefined)
    assert.deepEqual(
      [a.capabilities.gpu_cuda, a.capabilities.min_vram_mb, a.gpuTotalCount, a.gpuReadinessOk, a.trainingLabels],
      [true, 24_576, 2, true, ['pool=train']],
    )
    assert.deepEqual([isGpuEligible(a), isGpuEligible(b)], [true, false])
  })

  it('are stale by the clock of the control plane', async (t) => {
    const ageMs = (ms: number) => ({last_seen_unix_ms: listedAtMs - ms})
    const orchestrator = await polled(t, [node('fresh', ageMs(60_000)), node('stale', ageMs(60_001))])
    assert.deepEqual(
      remoteNodes(orchestrator)
        ?.nodes.filter(isSchedulable)
        .map(({nodeId}) => nodeId),
      ['fresh'],
    )
  })

  it('are not schedulable in maintenance and quarantine', async (t) => {
    const orchestrator = await polled(t, [
      node('a', {maintenance: true}),
      node('b', {quarantined: true}),
      node('c', {maintenance: true, maintenance_until_unix_ms: listedAtMs}),
    ])
    assert.deepEqual(
      remoteNodes(orchestrator)
        ?.nodes.filter(isSchedulable)
        .map(({nodeId}) => nodeId),
      ['c'],
    )
  })

  it('do not include this machine', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    write(orchestrator, [node('own'), node('other')], ['own'])
    assert.deepEqual(idsOf(orchestrator), ['other'])
    assert.equal(federationCache(orchestrator)?.node_count, 2)
  })

  it('are unknown without a poll, after a failed one, and when it is too old', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    assert.deepEqual([remoteNodes(orchestrator), federationCache(orchestrator)], [undefined, undefined])
    write(orchestrator, [node('a')])
    orchestrator.clock.ms += usableMs
    assert.deepEqual(idsOf(orchestrator), ['a'])
    orchestrator.clock.ms += 1
    assert.equal(remoteNodes(orchestrator), undefined)
    orchestrator.clock.ms = startMs - usableMs - 1
    assert.equal(remoteNodes(orchestrator), undefined, 'the clock was set back')
    write(orchestrator, [node('a')])
    writeNodePoll(orchestrator, {usableMs, error: 'connection refused'})
    assert.equal(remoteNodes(orchestrator), undefined)
    assert.deepEqual(federationCache(orchestrator), {
      fetched_at_unix_ms: orchestrator.clock.ms,
      ok: false,
      error: 'connection refused',
      node_count: 0,
      nodes_brief: [],
    })
    deleteNodePoll(orchestrator)
    assert.equal(federationCache(orchestrator), undefined)
  })

  it('are shown in the status with the times when they were last seen', async (t) => {
    const orchestrator = await polled(t, [node('a'), node('b', {last_seen_unix_ms: 5})])
    assert.deepEqual(federationCache(orchestrator), {
      fetched_at_unix_ms: startMs,
      ok: true,
      node_count: 2,
      schema_version: 1,
      nodes_brief: [
        {id: 'a', last_seen_unix_ms: listedAtMs},
        {id: 'b', last_seen_unix_ms: 5},
      ],
    })
  })

  it('are readable if another version of the control plane sends other types', async (t) => {
    const orchestrator = await polled(t, [
      node('a', {capabilities: {labels: 'x'}, last_seen_unix_ms: 'now', gpu_total_count: -1, maintenance: 'yes'}),
      node('b', {capabilities: null, quarantined: 1, gpu_readiness_ok: 'no'}),
    ])
    const [b, a] = remoteNodes(orchestrator)?.nodes ?? []
    assert.deepEqual([a?.capabilities.labels, a?.gpuTotalCount, a?.heartbeatStale], [[], undefined, true])
    assert.deepEqual([b?.quarantined, b?.gpuReadinessOk, b?.maintenance], [false, undefined, false])
  })

  for (const [limit, nodes, expected] of [
    ['1,000 nodes', Array.from({length: 1001}, (_, i) => node(`n${i}`)), 1000],
    ['256 KiB', Array.from({length: 9}, (_, i) => node(`${i}`.repeat(32_000))), 8],
  ] as const)
    it(`are limited to ${limit}, schedulable ones first`, async (t) => {
      const orchestrator = await polled(t, [node('drained', {maintenance: true}), ...nodes])
      const {nodes: kept, isTruncated} = remoteNodes(orchestrator) ?? assert.fail()
      assert.equal(isTruncated, true)
      assert.equal(kept.filter(isSchedulable).length, expected)
      const {node_count, truncated} = federationCache(orchestrator) ?? assert.fail()
      assert.deepEqual([node_count, truncated], [nodes.length + 1, true])
      const [{bytes} = {bytes: 0}] = orchestrator.store.all<{bytes: number}>(
        'SELECT length(value) AS bytes FROM orch_state',
      )
      assert.ok(bytes < 257 * 1024, `${bytes} bytes`)
    })
})

describe('routing with remote nodes', () => {
  const labelled = {capability_requirements: {labels: ['pool=a']}}

  /** Routes a task that requires a label which one of two agents has. Returns the terms of its score. */
  async function termsWith(t: TestContext, nodes: NodeRecord[], isEnabled: boolean) {
    const toml = `[orchestrator]\nunified_routing = true\nmesh_routing_experimental = ${isEnabled}\n`
    const orchestrator = await polled(t, nodes, toml)
    spawnWith(orchestrator, 'a', {labels: ['pool=a']})
    submit(orchestrator, labelled)
    const [event] = readEvents(orchestrator, {types: ['task_placed']})
    return event?.kind.type === 'task_placed' ? event.kind.reason : undefined
  }

  it('prefers agents that cover the labels if a node can receive work', async (t) => {
    assert.deepEqual(await termsWith(t, [node('n')], true), {remote_labels: 0.25})
  })

  it('ignores nodes that cannot receive work, and all nodes if it is disabled', async (t) => {
    assert.deepEqual(await termsWith(t, [node('n', {quarantined: true})], true), {})
    assert.deepEqual(await termsWith(t, [node('n')], false), {})
  })
})

describe('replayRoutes', () => {
  /** A workspace with a task of each kind for the agent `busy`, and a better agent. */
  async function withBetterAgent(t: TestContext) {
    const orchestrator = await openTestOrchestrator(t, {toml: 'orchestrator.max_agents = 3\n'})
    const needy = {capability_requirements: {gpu_cuda: true}}
    const busy = spawnAgent(orchestrator, {name: 'busy'})
    const ids = {
      running: submit(orchestrator, needy),
      queued: submit(orchestrator, needy),
      targeted: submit(orchestrator, {...needy, target_agent: 'busy'}),
      handed: submit(orchestrator, needy),
      delegated: submit(orchestrator, needy),
      any: submit(orchestrator),
    }
    startOne(orchestrator, busy.id)
    const {store} = orchestrator
    store.run('UPDATE orch_tasks SET handoff_count = 1 WHERE id = ?', [ids.handed])
    store.run("UPDATE orch_tasks SET remote_delegate = '{}' WHERE id = ?", [ids.delegated])
    const better = spawnWith(orchestrator, 'better', {gpu_cuda: true})
    return {orchestrator, ids, busy, better}
  }

  it('moves queued tasks for which another agent is better', async (t) => {
    const {orchestrator, ids, busy, better} = await withBetterAgent(t)
    const placed = () => readEvents(orchestrator, {types: ['task_placed']}).length
    const before = placed()
    const moved = replayRoutes(orchestrator)
    assert.ok(moved.includes(ids.queued))
    for (const kept of [ids.running, ids.targeted, ids.handed, ids.delegated]) {
      assert.ok(!moved.includes(kept))
      assert.equal(requireTask(orchestrator, kept).agent_id, busy.id)
    }
    assert.equal(requireTask(orchestrator, ids.queued).agent_id, better.id)
    assert.equal(placed(), before + moved.length)
  })

  it('moves nothing a second time', async (t) => {
    const {orchestrator} = await withBetterAgent(t)
    replayRoutes(orchestrator)
    assert.deepEqual(replayRoutes(orchestrator), [])
  })

  it('does not publish that the submitter chose the agent', async (t) => {
    const {orchestrator, ids} = await withBetterAgent(t)
    assert.ok(!('is_targeted' in requireTask(orchestrator, ids.targeted)))
  })
})
