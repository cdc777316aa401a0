import assert from 'node:assert/strict'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {fragment, openStore, type Store} from '../../src/store/index.js'
import {listMetrics, type NewMetric, recordMetric, telemetryFragment} from '../../src/telemetry/index.js'
import {temporaryFolder} from '../support/temporary.js'

async function storeOf(test: TestContext, fragments = [telemetryFragment]): Promise<Store> {
  const store = await openStore(join(await temporaryFolder(test), 'store.db'), fragments)
  test.after(() => store.close())
  return store
}

const metric: NewMetric = {sessionId: 'bench:r', type: 'benchmark_event', value: 1.5, nowMs: 1000}

describe('metrics', () => {
  it('distinguish null from 0', async (test) => {
    const store = await storeOf(test)
    for (const value of [0, null]) recordMetric({store, isKept: true}, {...metric, value})
    assert.deepEqual(
      listMetrics(store, {}).map((row) => [row.metric_value, row.metadata_json, row.created_at]),
      [
        [null, null, '1970-01-01 00:00:01'],
        [0, null, '1970-01-01 00:00:01'],
      ],
    )
  })

  it('are validated', async (test) => {
    const store = await storeOf(test)
    const place = {store, isKept: true}
    const text = (bytes: number) => ({t: 'x'.repeat(bytes - '{"t":""}'.length)})
    for (const fault of [
      {sessionId: ''},
      {sessionId: 's'.repeat(513)},
      {type: ''},
      {type: 'a b'},
      {type: 't'.repeat(129)},
      {value: Number.NaN},
      {metadata: text(256 * 1024 + 1)},
      {metadata: {t: 'é'.repeat(130_000), u: 'x'.repeat(2200)}},
    ])
      assert.equal(recordMetric(place, {...metric, ...fault}), undefined, JSON.stringify(fault).slice(0, 60))
    for (const accepted of [
      {sessionId: '😀'.repeat(512)},
      {type: 't'.repeat(128)},
      {type: 'a.b:c-d_9'},
      {metadata: text(256 * 1024)},
    ])
      assert.ok(recordMetric(place, {...metric, ...accepted}), JSON.stringify(accepted).slice(0, 60))
    assert.equal(listMetrics(store, {}).length, 4)
  })

  it('are listed by exact type and session prefix, newest first', async (test) => {
    const store = await storeOf(test)
    for (const [sessionId, type] of [
      ['bench:a', 'x'],
      ['bench:b', 'xy'],
      ['bench%', 'x'],
      ['mesh:a', 'x'],
    ] as const)
      recordMetric({store, isKept: true}, {...metric, sessionId, type})
    const ids = (filter: Parameters<typeof listMetrics>[1]) => listMetrics(store, filter).map(({id}) => id)
    assert.deepEqual(ids({}), [4, 3, 2, 1])
    assert.deepEqual(ids({type: 'x'}), [4, 3, 1])
    assert.deepEqual(ids({sessionPrefix: 'bench:'}), [2, 1])
    assert.deepEqual(ids({sessionPrefix: 'bench%'}), [3])
    assert.deepEqual([ids({limit: 0}), ids({limit: 2}), ids({limit: 1e9})], [[4], [4, 3], [4, 3, 2, 1]])
  })

  it('that cannot be recorded do not cause an error', async (test) => {
    const store = await storeOf(test, [])
    assert.equal(recordMetric({store, isKept: true}, metric), undefined)
  })

  it('are not recorded in a store in memory', async (test) => {
    const store = await storeOf(test)
    assert.equal(recordMetric({store, isKept: false}, metric), undefined)
    assert.deepEqual(listMetrics(store, {}), [])
  })
})

describe('an older store', () => {
  it('keeps its mesh control events as metrics', async (test) => {
    const path = join(await temporaryFolder(test), 'store.db')
    const mesh = fragment(
      'mesh',
      `CREATE TABLE mesh_control_events (
  id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, repository_id TEXT NOT NULL, name TEXT NOT NULL,
  details_json TEXT NOT NULL, created_at_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX mesh_control_events_session ON mesh_control_events (session_id, id);
INSERT INTO mesh_control_events (session_id, repository_id, name, details_json, created_at_ms)
VALUES ('mesh:r', 'r', 'mesh_http_join_ok', '{"ok":true}', 1760000000999), ('mesh:r', 'r', 'mesh_http_join_err', '{}', 0)`,
    )
    const old = await openStore(path, [mesh])
    old.close()
    const store = await openStore(path, [telemetryFragment])
    test.after(() => store.close())
    const [second, first] = listMetrics(store, {type: 'mesh_control_event', sessionPrefix: 'mesh:r'})
    assert.deepEqual(
      [first?.metadata_json, first?.created_at, first?.metric_value],
      ['{"name":"mesh_http_join_ok","repository_id":"r","details":{"ok":true}}', '2025-10-09 08:53:20', null],
    )
    assert.equal(JSON.parse(second?.metadata_json ?? '').name, 'mesh_http_join_err')
    assert.deepEqual(store.all("SELECT name FROM sqlite_schema WHERE name LIKE 'mesh_control_events%'"), [])
  })

  it('keeps its model calls', async (test) => {
    const path = join(await temporaryFolder(test), 'store.db')
    const table = /CREATE TABLE IF NOT EXISTS (llm_interactions .*?STRICT;)/s.exec(
      telemetryFragment.migrations[0] ?? '',
    )
    const old = await openStore(path, [
      fragment(
        'assistant',
        `CREATE TABLE ${table?.[1]}
CREATE INDEX llm_interactions_session ON llm_interactions (repository_id, session_id);
INSERT INTO llm_interactions VALUES (1, 'r', NULL, NULL, 'm', 'general', 1, 5, 1, 2, 0, 9)`,
      ),
    ])
    old.close()
    const store = await openStore(path, [telemetryFragment])
    test.after(() => store.close())
    assert.deepEqual(store.all('SELECT id, latency_ms FROM llm_interactions'), [{id: 1, latency_ms: 5}])
  })
})
