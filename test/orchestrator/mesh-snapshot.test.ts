import assert from 'node:assert/strict'
import type {ServerResponse} from 'node:http'
import {describe, it, type TestContext} from 'node:test'
import {type Call, createCall, type OperationContext, operationNamed} from '../../src/operations/index.js'
import * as modules from '../../src/orchestrator/index.js'
import {type MeshSnapshot, meshSnapshot} from '../../src/orchestrator/index.js'
import {takeLease} from '../../src/tasks/index.js'
import {controlPlane} from './support/control-plane.js'
import {openTestOrchestrator, startMs, type TestOptions} from './support/open-test-orchestrator.js'

const token = 'tok-1234567'

const json = (response: ServerResponse, body: unknown) => response.end(JSON.stringify(body))

const open = (t: TestContext, url: string, {env = {}, ...options}: TestOptions = {}) =>
  openTestOrchestrator(t, {...options, env: {SVC_ORCHESTRATOR_MESH_CONTROL_URL: url, ...env}})

/** The snapshot from this control plane. */
async function look(t: TestContext, url: string, options?: TestOptions): Promise<MeshSnapshot> {
  return (await meshSnapshot(await open(t, url, options))) ?? assert.fail('there is a control plane')
}

/** The error of a failed snapshot. Asserts that it does not contain the token. */
async function fault(t: TestContext, url: string, options: TestOptions = {}): Promise<string> {
  const snapshot = await look(t, url, {...options, env: {SVC_MESH_TOKEN: token, ...options.env}})
  assert.ok(!snapshot.ok)
  assert.deepEqual(Object.keys(snapshot), ['ok', 'error'])
  assert.doesNotMatch(snapshot.error, /tok-1234567/)
  return snapshot.error
}

const seenAgo = (id: string, ms: number, more: object = {}) => ({id, last_seen_unix_ms: startMs - ms, ...more})

describe('meshSnapshot', () => {
  it('contains the nodes of the control plane unchanged', async (t) => {
    const nodes = [seenAgo('node-a', 10, {version: '0.1.0', capabilities: {gpu_cuda: true}}), seenAgo('node-b', 9e9)]
    const plane = await controlPlane(t, (response) => json(response, {schema_version: 1, queue_depth: 3, nodes}))
    assert.deepEqual(await look(t, plane.url), {ok: true, schema_version: 1, node_count: 2, nodes})
    assert.deepEqual(plane.requests, [{method: 'GET', url: '/v1/mesh/nodes?limit=500', authorization: undefined}])
  })

  it('sends the token if one is set', async (t) => {
    const plane = await controlPlane(t, (response) => json(response, {schema_version: 1, nodes: []}))
    const snapshot = await look(t, plane.url, {env: {SVC_MESH_TOKEN: token}})
    assert.deepEqual(snapshot, {ok: true, schema_version: 1, node_count: 0, nodes: []})
    assert.equal(plane.requests[0]?.authorization, `Bearer ${token}`)
  })

  it('redacts the token in node fields', async (t) => {
    const nodes = [seenAgo('node-a', 10, {capabilities: {labels: [`auth=${token}`, 'gpu']}, version: token})]
    const plane = await controlPlane(t, (response) => json(response, {schema_version: 1, nodes}))
    const snapshot = await look(t, plane.url, {env: {SVC_MESH_TOKEN: token}})
    assert.ok(snapshot.ok)
    assert.deepEqual(snapshot.nodes, [
      seenAgo('node-a', 10, {capabilities: {labels: ['auth=[redacted]', 'gpu']}, version: '[redacted]'}),
    ])
  })

  it('is undefined without a control plane', async (t) => {
    assert.equal(meshSnapshot(await openTestOrchestrator(t)), undefined)
  })

  it('omits nodes not seen within SVC_MESH_MAX_STALE_MS', async (t) => {
    const nodes = [
      seenAgo('fresh', 1000),
      seenAgo('stale', 1001),
      seenAgo('ahead', -5000),
      {id: 'never seen'},
      seenAgo('also fresh', 0),
    ]
    const answer = {schema_version: 1, server_time_unix_ms: startMs, nodes}
    const {url} = await controlPlane(t, (response) => json(response, answer))
    const ids = async (env: Readonly<Record<string, string>>) => {
      const snapshot = await look(t, url, {env})
      assert.ok(snapshot.ok)
      assert.equal(snapshot.node_count, snapshot.nodes.length)
      return snapshot.nodes.map(({id}) => id)
    }
    assert.deepEqual(await ids({SVC_MESH_MAX_STALE_MS: '1000'}), ['fresh', 'ahead', 'also fresh'])
    assert.equal((await ids({SVC_MESH_MAX_STALE_MS: '0'})).length, 5)
    assert.equal((await ids({})).length, 5)
  })

  it('measures staleness by the clock of the control plane', async (t) => {
    const at = Date.UTC(2031, 0, 1)
    const nodes = [
      {id: 'fresh', last_seen_unix_ms: at - 500},
      {id: 'stale', last_seen_unix_ms: at - 5000},
    ]
    const {url} = await controlPlane(t, (response) => {
      response.setHeader('date', new Date(at).toUTCString())
      json(response, {nodes})
    })
    const snapshot = await look(t, url, {env: {SVC_MESH_MAX_STALE_MS: '2000'}})
    assert.deepEqual(snapshot, {ok: true, schema_version: 1, node_count: 1, nodes: [nodes[0]]})
  })

  it('lists at most 200 nodes but counts all of them', async (t) => {
    const nodes = Array.from({length: 1500}, (_, i) => seenAgo(`node-${i}`, 0))
    const {url} = await controlPlane(t, (response) => json(response, {schema_version: 2, nodes}))
    const snapshot = await look(t, url)
    assert.ok(snapshot.ok)
    assert.deepEqual(
      [snapshot.schema_version, snapshot.node_count, snapshot.truncated, snapshot.nodes],
      [2, 1500, true, nodes.slice(0, 200)],
    )
  })

  it('counts the nodes of all pages', async (t) => {
    const pages = [0, 1, 2].map((page) => Array.from({length: 500}, (_, i) => seenAgo(`node-${page * 500 + i}`, 0)))
    let asked = 0
    const {url, requests} = await controlPlane(t, (response) => {
      const nodes = pages[asked++]
      json(response, {schema_version: 1, nodes, ...(asked < 3 ? {truncated: true, next_cursor: `c${asked}`} : {})})
    })
    const snapshot = await look(t, url)
    assert.ok(snapshot.ok)
    assert.deepEqual([snapshot.node_count, snapshot.nodes.length, snapshot.truncated], [1500, 200, true])
    assert.deepEqual(
      requests.map((request) => request.url?.split('?')[1]),
      ['limit=500', 'limit=500&cursor=c1', 'limit=500&cursor=c2'],
    )
  })

  it('omits entries without an id', async (t) => {
    const nodes = [null, 7, 'node', {}, {id: 7}, [], {id: 'node-a'}]
    const {url} = await controlPlane(t, (response) => json(response, {schema_version: 'x', nodes}))
    assert.deepEqual(await look(t, url), {ok: true, schema_version: 1, node_count: 1, nodes: [{id: 'node-a'}]})
  })
})

describe('meshSnapshot of a failing control plane', () => {
  for (const [what, answer, expected] of [
    [
      'rejects the token and repeats it',
      (response: ServerResponse) => response.writeHead(401).end(`{"detail": "no such token: ${token}"}`),
      /401.*no such token: \[redacted\]/,
    ],
    ['is overloaded', (response: ServerResponse) => response.writeHead(503).end('{"detail": "later"}'), /503.*later/],
    [
      'returns a page that repeats the token',
      (response: ServerResponse) => response.end(`${token} <html>`),
      /The server at .* is not a control plane: .*\[redacted\]/,
    ],
    ['returns another document', (response: ServerResponse) => json(response, {rows: []}), /it lists no nodes\.$/],
    ['returns null', (response: ServerResponse) => json(response, null), /it lists no nodes\.$/],
    [
      'redirects',
      (response: ServerResponse) => response.writeHead(302, {location: '/login'}).end('<html>'),
      /\/v1\/mesh\/nodes\?limit=500 responded with status 302: redirects are not followed\.$/,
    ],
    [
      'redirects with an empty body',
      (response: ServerResponse) => response.writeHead(307, {location: '/login'}).end(),
      /\/v1\/mesh\/nodes\?limit=500 responded with status 307: redirects are not followed\.$/,
    ],
    ['returns an empty body', (response: ServerResponse) => response.end(), /it lists no nodes\.$/],
    [
      'sends more than 16 MiB',
      (response: ServerResponse) => response.end(' '.repeat((16 << 20) + 1)),
      /larger than 16 MiB/,
    ],
    ['closes the connection', (response: ServerResponse) => response.destroy(), /Cannot reach/],
  ] as const)
    it(`sends one request and reports the error if it ${what}`, async (t) => {
      const plane = await controlPlane(t, answer)
      assert.match(await fault(t, plane.url), expected)
      assert.equal(plane.requests.length, 1)
    })

  it('reports a refused connection', async (t) => {
    assert.match(await fault(t, 'http://127.0.0.1:1'), /connection refused/)
  })

  it('times out if the response is missing or incomplete', async (t) => {
    const unresponsive = await controlPlane(t, () => {})
    const slow = await controlPlane(t, (response) => {
      const timer = setInterval(() => response.write(' '), 50)
      response.on('close', () => clearInterval(timer))
    })
    for (const {url} of [unresponsive, slow]) {
      const started = performance.now()
      const env = {SVC_ORCHESTRATOR_MESH_HTTP_TIMEOUT_MS: '1'}
      assert.equal(await fault(t, url, {env}), `${url}/v1/mesh/nodes?limit=500 did not respond within 500 ms.`)
      const took = performance.now() - started
      assert.ok(took >= 490, String(took))
    }
  })
})

describe('the status operation', () => {
  const call: Call = createCall(operationNamed('status'), 'orch.status')
  const status = async (orchestrator: modules.Orchestrator) => {
    const context = {modules, orchestrator, surface: 'mcp', sources: {env: {}}} as unknown as OperationContext
    const report = (await call.perform({}, context)) as object
    const {present} = operationNamed('status').bindings.tool ?? {}
    return {report, presented: present?.(report as never, context) as Record<string, unknown>}
  }

  it('includes the mesh snapshot, even a failed one', async (t) => {
    const {url} = await controlPlane(t, (response) => json(response, {schema_version: 1, nodes: [{id: 'node-a'}]}))
    const {report, presented} = await status(await open(t, url))
    const mesh_snapshot = {ok: true, schema_version: 1, node_count: 1, nodes: [{id: 'node-a'}]}
    assert.deepEqual((report as {mesh_snapshot: unknown}).mesh_snapshot, mesh_snapshot)
    assert.match(String(presented.markdown_summary), /Mesh: 1 node\.$/)
    const lost = await status(await open(t, 'http://127.0.0.1:1'))
    assert.equal((lost.presented.mesh_snapshot as MeshSnapshot).ok, false)
    assert.equal(lost.presented.agent_count, 0)
    assert.match(String(lost.presented.markdown_summary), /connection refused\.$/)
  })

  it('is synchronous and has no mesh snapshot without a control plane', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const context = {modules, orchestrator} as unknown as OperationContext
    const report = operationNamed('status').run({} as never, context) as Record<string, unknown>
    assert.equal(report.agent_count, 0)
    assert.ok(!('mesh_snapshot' in report))
  })

  it('reports plans, operations, workers, the event feed and the scale-up threshold', async (t) => {
    const toml = '[orchestrator]\nscaling_profile = "aggressive"\nscaling_threshold = 10\n'
    const orchestrator = await openTestOrchestrator(t, {toml})
    const facts = async () => {
      const {report, presented} = await status(orchestrator)
      const of = (from: object) => {
        const {planning, oplog_count, registered_worker_processes, event_feed_mode, effective_scale_up_threshold} =
          from as Record<string, unknown>
        return {planning, oplog_count, registered_worker_processes, event_feed_mode, effective_scale_up_threshold}
      }
      assert.deepEqual(of(report), of(presented))
      return of(report)
    }
    const before = {
      planning: {active_sessions: 0, total_sessions: 0},
      oplog_count: 0,
      registered_worker_processes: 0,
      event_feed_mode: 'database_and_transient',
      effective_scale_up_threshold: 7,
    }
    assert.deepEqual(await facts(), before)
    for (const goal of ['Add the parser', 'Add the printer']) modules.plans.newPlan(orchestrator, {goal})
    const [plan] = modules.plans.listPlans(orchestrator)
    modules.plans.executePlan(orchestrator, plan?.session_id ?? '')
    modules.spawnAgent(orchestrator, {name: 'a'})
    takeLease(orchestrator, 'test')
    assert.deepEqual(await facts(), {
      ...before,
      planning: {active_sessions: 1, total_sessions: 2},
      oplog_count: 1,
      registered_worker_processes: 1,
    })
    const {event_feed_mode} = modules.reportStatus({...orchestrator, isKept: false})
    assert.equal(event_feed_mode, 'transient_only')
  })

  it('reports whether a daemon runs tasks and whether a database is configured', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    modules.tasks.submitTask(orchestrator, {description: 'x'})
    const waiting = await status(orchestrator)
    assert.deepEqual(waiting.report, {
      ...modules.reportStatus(orchestrator),
      db_configured: true,
      execution_mode: 'queue_only',
      worker_runtime_attached: false,
    })
    assert.equal(
      waiting.presented.markdown_summary,
      '**Tasks:** 1 queued, 0 in progress, 0 completed; **agents:** 1. No daemon runs them.',
    )
    assert.deepEqual([waiting.presented.in_progress, waiting.presented.completed], [0, 0])
    takeLease(orchestrator, 'test')
    const running = (await status(orchestrator)).presented
    assert.deepEqual([running.execution_mode, running.worker_runtime_attached], ['workers_attached', true])
    assert.match(String(running.markdown_summary), / A daemon runs them\.$/)
  })
})
