import assert from 'node:assert/strict'
import {describe, it, type TestContext} from 'node:test'
import {startNodePoller} from '../../../src/delegation/nodes/node-poller.js'
import {createMeshClient, type MeshClient} from '../../../src/mesh/index.js'
import {reportStatus, spawnAgent} from '../../../src/orchestrator/index.js'
import {remoteNodes, requireTask, submitBatch, takeLease, writeNodePoll} from '../../../src/tasks/index.js'
import {isSchedulable} from '../../../src/tasks/routing/remote.js'
import {listMetrics} from '../../../src/telemetry/index.js'
import {type PlaneOptions, startPlane} from '../../mesh/control-plane/support/control-plane.js'
import {controlPlane} from '../../orchestrator/support/control-plane.js'
import {openTestOrchestrator, type TestOrchestrator} from '../../orchestrator/support/open-test-orchestrator.js'
import {until} from '../../support/until.js'

const token = 'canary-mesh-token-0001'

/** Polls every second, without retries. */
const baseEnv = {
  SVC_ORCHESTRATOR_MESH_POLL_INTERVAL_SECS: '1',
  SVC_MESH_HTTP_RETRY_TRANSIENT: '0',
  SVC_MESH_NODE_ID: 'this-node',
  SVC_MESH_TOKEN: token,
}

interface PollOptions {
  env?: Readonly<Record<string, string>>
  toml?: string
  /** Changes the workspace before the first poll. */
  before?: (orchestrator: TestOrchestrator) => void
  root?: string
}

/** A workspace whose daemon polls a control plane. Another process reads the result. */
async function polling(t: TestContext, url: string, {env: more = {}, toml = '', root, before}: PollOptions = {}) {
  const env = {...baseEnv, SVC_ORCHESTRATOR_MESH_CONTROL_URL: url, ...more}
  const orchestrator = await openTestOrchestrator(t, {env, toml, clock: 'real', ...(root === undefined ? {} : {root})})
  const reader = await openTestOrchestrator(t, {env, root: orchestrator.root, clock: 'real'})
  before?.(reader)
  const lease = takeLease(orchestrator, 'test')
  const poller = startNodePoller(orchestrator, {lease, sources: {env}, signal: new AbortController().signal})
  t.after(() => poller.close())
  const cache = () => reportStatus(reader).mesh_federation_cache
  return {
    orchestrator,
    reader,
    poller,
    cache,
    schedulable: () =>
      remoteNodes(reader)
        ?.nodes.filter(isSchedulable)
        .map(({nodeId}) => nodeId),
    /** Waits for a result. */
    async seen(isExpected: (found: NonNullable<ReturnType<typeof cache>>) => boolean) {
      const holds = () => {
        const found = cache()
        return found !== undefined && isExpected(found)
      }
      await until(holds, () => JSON.stringify(cache()))
      return cache() ?? assert.fail()
    },
    /** Everything that the workspace stores about the mesh. */
    stored: () =>
      JSON.stringify([
        reader.store.all('SELECT * FROM orch_state'),
        reader.store.all('SELECT * FROM research_metrics'),
        reader.store.all('SELECT * FROM orch_events'),
      ]),
  }
}

/** A control plane in this process with a client for the tests. */
async function plane(t: TestContext, options: PlaneOptions = {}) {
  const server = await startPlane(t, {secrets: {token}, ...options})
  const client = createMeshClient({baseUrl: server.baseUrl, tokens: {mesh: token}})
  t.after(() => client.close())
  return {server, client, url: server.baseUrl}
}

const join = (client: MeshClient, id: string, capabilities = {}) => client.join({id, version: '1', capabilities})

describe('the node poller', () => {
  it('stores the nodes at once and updates them', async (t) => {
    const {client, url} = await plane(t)
    await join(client, 'gpu-1', {gpu_cuda: true, labels: ['pool=train']})
    await join(client, 'this-node')
    const {seen, schedulable, reader} = await polling(t, url)
    const {node_count, schema_version, nodes_brief} = await seen(({ok}) => ok)
    assert.deepEqual([node_count, schema_version], [2, 1])
    assert.deepEqual(nodes_brief.map(({id}) => id).sort(), ['gpu-1', 'this-node'])
    assert.deepEqual(schedulable(), ['gpu-1'], 'this machine is not a remote node')
    assert.deepEqual(remoteNodes(reader)?.nodes[0]?.trainingLabels, ['pool=train'])
    await client.setQuarantine({node: 'gpu-1', quarantined: true})
    await until(() => schedulable()?.length === 0, 'the quarantine is known')
  })

  it('removes the nodes while the control plane fails', async (t) => {
    const {server, client, url} = await plane(t)
    await join(client, 'n')
    const {seen, reader} = await polling(t, url)
    await seen(({ok}) => ok)
    server.trouble.fault = new Error('disk failure')
    const {error, node_count, nodes_brief} = await seen(({ok}) => !ok)
    assert.deepEqual([node_count, nodes_brief, remoteNodes(reader)], [0, [], undefined])
    assert.ok(error)
    server.trouble.fault = undefined
    await seen(({ok}) => ok)
  })

  it('reports that the control plane is down', async (t) => {
    const {seen, stored} = await polling(t, 'http://127.0.0.1:1')
    const {error} = await seen(({ok}) => !ok)
    assert.match(error ?? '', /connection refused/)
    assert.doesNotMatch(stored(), /canary/)
  })

  it('reports that the control plane is slow, and closes during a request', async (t) => {
    const hanging = await controlPlane(t, () => {})
    const {seen, poller} = await polling(t, hanging.url, {env: {SVC_ORCHESTRATOR_MESH_HTTP_TIMEOUT_MS: '500'}})
    const {error} = await seen(({ok}) => !ok)
    assert.match(error ?? '', /did not respond within 500 ms/)
    const {length} = hanging.requests
    await until(() => hanging.requests.length > length, 'the next request')
    await poller.close()
  })

  it('reports a wrong token without containing it', async (t) => {
    const {url} = await plane(t, {secrets: {token: 'another-token-0001'}})
    const {seen, stored} = await polling(t, url)
    const {error} = await seen(({ok}) => !ok)
    assert.match(error ?? '', /401|token/i)
    assert.doesNotMatch(stored(), /canary/)
  })

  const answers: readonly (readonly [says: string, answer: string, isOk: boolean])[] = [
    ['a web page', `<html>${token}</html>`, false],
    ['no nodes', '{"leases": []}', false],
    ['nodes that contain the token', JSON.stringify({nodes: [{id: token, capabilities: {labels: [token]}}]}), true],
    ['rows that are not nodes', '{"nodes": [1, null, {"id": 7}, {"id": "n"}]}', true],
  ]
  for (const [says, answer, isOk] of answers)
    it(`${isOk ? 'reads' : 'reports'} an answer with ${says}`, async (t) => {
      const {url} = await controlPlane(t, (response) => response.end(answer))
      const {seen, stored} = await polling(t, url)
      const {ok, node_count} = await seen(() => true)
      assert.deepEqual([ok, node_count], [isOk, isOk ? 1 : 0])
      assert.doesNotMatch(stored(), /canary/)
    })

  it('stops when another daemon holds the lease', async (t) => {
    let nodes: object[] = []
    const {url, requests} = await controlPlane(t, (response) => response.end(JSON.stringify({nodes})))
    const {seen, reader, cache, poller} = await polling(t, url)
    await seen(({node_count}) => node_count === 0)
    reader.store.run('UPDATE orch_leases SET fence = fence + 1')
    const before = cache()
    nodes = [{id: 'n'}]
    const {length} = requests
    await until(() => requests.length > length, 'the last poll')
    await poller.close()
    assert.deepEqual(cache(), before)
  })

  for (const [says, env] of [
    ['if the interval is 0', {SVC_ORCHESTRATOR_MESH_POLL_INTERVAL_SECS: '0'}],
    ['without a control plane', {SVC_ORCHESTRATOR_MESH_CONTROL_URL: ''}],
  ] as const)
    it(`does not poll ${says}, and removes the former nodes`, async (t) => {
      const {url, requests} = await controlPlane(t, (response) => response.end('{"nodes": []}'))
      const {cache} = await polling(t, url, {
        env,
        before: (orchestrator) => writeNodePoll(orchestrator, {usableMs: 90_000, error: 'old'}),
      })
      await until(() => cache() === undefined, 'the former nodes are removed')
      assert.deepEqual(requests, [])
    })

  it('applies changed settings', async (t) => {
    const {url, requests} = await controlPlane(t, (response) => response.end('{"nodes": []}'))
    const {orchestrator, cache, seen} = await polling(t, url, {env: {SVC_ORCHESTRATOR_MESH_POLL_INTERVAL_SECS: '3600'}})
    await seen(({ok}) => ok)
    Object.assign(orchestrator, {config: {...orchestrator.config, meshPollIntervalSecs: 1}})
    await until(() => requests.length > 1, 'the shorter interval')
    Object.assign(orchestrator, {config: {...orchestrator.config, controlUrl: undefined}})
    await until(() => cache() === undefined, 'no control plane')
  })
})

describe('a drop of schedulable nodes', () => {
  const replay = 'SVC_ORCHESTRATOR_MESH_REPLAY_QUEUED_ROUTES_ON_REMOTE_SCHEDULABLE_DROP'
  const level = 'SVC_ORCHESTRATOR_MESH_REBALANCE_ON_REMOTE_SCHEDULABLE_DROP'
  const routing = 'SVC_ORCHESTRATOR_MESH_ROUTING_EXPERIMENTAL'

  /** Puts tasks in the queue of a busy agent, then removes a node. Returns the number of tasks that left the queue. */
  async function movedBy(t: TestContext, env: Readonly<Record<string, string>>) {
    const {client, url} = await plane(t)
    await join(client, 'n')
    const {reader, schedulable} = await polling(t, url, {env})
    await until(() => schedulable()?.length === 1, 'the node is known')
    const busy = spawnAgent(reader, {name: 'busy'})
    const tasks = Array.from({length: 8}, () => ({description: 'work', processor: 'external' as const}))
    const ids = submitBatch(reader, tasks).map(({task_id}) => task_id)
    spawnAgent(reader, {name: 'idle'})
    await client.setMaintenance({node: 'n', maintenance: true})
    await until(() => schedulable()?.length === 0, 'the node is gone')
    return ids.filter((id) => requireTask(reader, id).agent_id !== busy.id).length
  }

  it('rebalances queued tasks if enabled', async (t) => {
    assert.ok((await movedBy(t, {[routing]: 'true', [level]: 'true'})) > 0)
  })

  it('routes queued tasks again if enabled', async (t) => {
    assert.ok((await movedBy(t, {[routing]: 'true', [replay]: 'true'})) > 0)
  })

  it('moves nothing by default, or without experimental routing', async (t) => {
    assert.equal(await movedBy(t, {[routing]: 'true'}), 0)
    assert.equal(await movedBy(t, {[level]: 'true', [replay]: 'true'}), 0)
  })
})

describe('lease reconciliation against a control plane', () => {
  const enabled = {SVC_ORCHESTRATOR_MESH_EXEC_LEASE_RECONCILE: '1', SVC_MESH_CODEX_TELEMETRY: '1'}

  it('revokes the lease of a stale holder but not the one of this machine', async (t) => {
    let aheadMs = 0
    const {client, url} = await plane(t, {storeTime: () => Date.now() + aheadMs})
    const {root, repositoryId} = await openTestOrchestrator(t)
    const own = `orch-this-node-${repositoryId.slice(0, 8)}`
    for (const id of ['worker', own]) {
      await join(client, id)
      await client.grantLease({scopeKey: `task:${id}`, claimer: id})
    }
    aheadMs = 61_000
    const {orchestrator, stored} = await polling(t, url, {
      root,
      env: {...enabled, SVC_ORCHESTRATOR_MESH_EXEC_LEASE_AUTO_REVOKE: '1'},
    })
    const holders = async () => (await client.listLeases()).map(({holder_node_id: holder}) => holder)
    await until(async () => (await holders()).length === 1, 'a lease is revoked')
    assert.deepEqual(await holders(), [own])
    const recorded = () =>
      listMetrics(orchestrator.store, {type: 'mesh_exec_lease_reconcile'})
        .map(({metadata_json: json}) => JSON.parse(json ?? '').details)
        .map((details) => [details.holder_node_id, details.reason, details.auto_revoke_ok].join())
        .sort()
    await until(() => recorded().length === 3, 'the revocation is recorded')
    assert.deepEqual(recorded(), [
      `${own},holder_heartbeat_stale,`,
      'worker,holder_heartbeat_stale,',
      'worker,holder_heartbeat_stale,true',
    ])
    assert.doesNotMatch(stored(), /canary/)
  })

  it('still stores the nodes if the token may not list leases', async (t) => {
    const workerToken = 'canary-worker-token-1'
    const {url} = await plane(t, {secrets: {token: 'another-token-0001', workerToken}})
    const env = {...enabled, SVC_MESH_TOKEN: '', SVC_MESH_WORKER_TOKEN: workerToken}
    const {seen, stored} = await polling(t, url, {env})
    await seen(({ok}) => ok)
    assert.doesNotMatch(stored(), /canary|reconcile/)
  })
})
