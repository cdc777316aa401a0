import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {SvcError} from '../../../src/errors/index.js'
import {
  listEveryNode,
  MeshHttpError,
  type NodeRecord,
  type NodesRequest,
  nodeState,
  type Registry,
  watchNodes,
} from '../../../src/mesh/index.js'

const nowMs = 1_790_000_000_000

const node = (id: string, more: Partial<NodeRecord> = {}): NodeRecord => ({
  id,
  version: '1',
  capabilities: {},
  last_seen_unix_ms: nowMs,
  ...more,
})

const registry = (nodes: NodeRecord[], next?: string): Registry => ({
  schema_version: 1,
  nodes,
  server_time_unix_ms: nowMs,
  ...(next === undefined ? {} : {truncated: true, next_cursor: next}),
})

const fault = (isTransient: boolean) =>
  new MeshHttpError({
    kind: 'transport',
    context: 'list_nodes',
    cause: new SvcError('unreachable', {url: 'http://127.0.0.1:1', reason: 'connection refused'}),
    isTransient,
  })

/** A control plane with a list of responses; the last one is repeated. */
function scripted(...answers: (Registry | MeshHttpError)[]) {
  const asked: NodesRequest[] = []
  return {
    asked,
    async listNodes(request: NodesRequest = {}) {
      asked.push(request)
      const answer = answers[Math.min(asked.length, answers.length) - 1]
      if (answer === undefined || answer instanceof MeshHttpError) throw answer
      return answer
    },
  }
}

describe('nodeState', () => {
  const cases: [says: string, facts: Partial<NodeRecord>, staleMs: number, state: string][] = [
    ['just seen', {}, 1000, 'ok'],
    ['seen at the threshold', {last_seen_unix_ms: nowMs - 1000}, 1000, 'ok'],
    ['seen before the threshold', {last_seen_unix_ms: nowMs - 1001}, 1000, 'stale'],
    ['seen long ago with the threshold 0', {last_seen_unix_ms: 0}, 0, 'ok'],
    ['seen in the future', {last_seen_unix_ms: nowMs + 9000}, 1000, 'ok'],
    ['in maintenance', {maintenance: true}, 1000, 'maintenance'],
    ['in maintenance until later', {maintenance: true, maintenance_until_unix_ms: nowMs + 1}, 1000, 'maintenance'],
    ['with ended maintenance', {maintenance: true, maintenance_until_unix_ms: nowMs}, 1000, 'ok'],
    ['in quarantine and maintenance', {quarantined: true, maintenance: true}, 1000, 'quarantined'],
    ['stale and in maintenance', {maintenance: true, last_seen_unix_ms: 0}, 1000, 'maintenance'],
    ['seen one and a half intervals ago', {last_seen_unix_ms: nowMs - 1000}, 2000, 'ok'],
    ['seen more than one and a half intervals ago', {last_seen_unix_ms: nowMs - 1001}, 2000, 'suspect'],
    ['suspect and in maintenance', {maintenance: true, last_seen_unix_ms: nowMs - 1001}, 2000, 'maintenance'],
  ]
  for (const [says, facts, staleMs, state] of cases)
    it(`${says}: ${state}`, () => {
      const heartbeatMs = staleMs === 0 ? undefined : 1000 / 1.5
      assert.equal(nodeState(node('n', facts), {atMs: nowMs, staleMs, heartbeatMs}), state)
    })
})

describe('listEveryNode', () => {
  it('reads all pages', async () => {
    const plane = scripted(registry([node('a'), node('b')], 'x'), registry([node('b'), node('c')], 'y'), registry([]))
    const found = await listEveryNode(plane, {labels: ['pool=a'], maxStaleMs: 0})
    assert.deepEqual(found, registry([node('a'), node('b'), node('c')]))
    assert.deepEqual(plane.asked, [
      {labels: ['pool=a'], limit: 500},
      {labels: ['pool=a'], limit: 500, cursor: 'x'},
      {labels: ['pool=a'], limit: 500, cursor: 'y'},
    ])
  })

  it('stops if a cursor repeats', async () => {
    const plane = scripted(registry([node('a')], 'x'))
    assert.deepEqual(await listEveryNode(plane, {maxStaleMs: 0}), registry([node('a')]))
    assert.equal(plane.asked.length, 2)
  })

  it('stops if cursors form a cycle', async () => {
    const [first, second] = [registry([node('a')], 'x'), registry([node('b')], 'y')]
    const plane = scripted(first, second, first, second, first, registry([node('never')]))
    const {nodes} = await listEveryNode(plane, {maxStaleMs: 0})
    assert.deepEqual([nodes.map(({id}) => id), plane.asked.length], [['a', 'b'], 3])
  })

  it('omits stale nodes', async () => {
    const nodes = [node('old', {last_seen_unix_ms: nowMs - 501}), node('new', {last_seen_unix_ms: nowMs - 500})]
    const {nodes: shown} = await listEveryNode(scripted(registry(nodes)), {maxStaleMs: 500})
    assert.deepEqual(
      shown.map(({id}) => id),
      ['new'],
    )
  })
})

describe('watchNodes', () => {
  it('retries transient errors and reports them once', async () => {
    const faults: (string | undefined)[] = []
    const stop = new AbortController()
    const watching = {
      maxStaleMs: 0,
      staleMs: 60_000,
      intervalMs: 1,
      onFault: (error: MeshHttpError | undefined) => void faults.push(error?.message),
    }
    const away = fault(true)
    const plane = scripted(registry([node('a')]), away, away, registry([node('a', {version: '2'})]))
    const changes: string[] = []
    for await (const {event, node: changed} of watchNodes(plane, watching, stop.signal)) {
      changes.push(`${event} ${changed.version}`)
      if (event === 'changed') stop.abort()
    }
    assert.deepEqual(changes, ['listed 1', 'changed 2'])
    assert.deepEqual(faults, [away.message, undefined])
  })

  it('ends on a permanent error', async () => {
    const refused = fault(false)
    const watching = {maxStaleMs: 0, staleMs: 0, intervalMs: 1, onFault: () => undefined}
    await assert.rejects(
      async () => {
        for await (const _ of watchNodes(scripted(refused), watching, new AbortController().signal));
      },
      (error) => error === refused,
    )
  })
})
