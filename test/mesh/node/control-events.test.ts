import assert from 'node:assert/strict'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {contractViolations} from '../../../src/contracts/index.js'
import {recordControlEvent} from '../../../src/mesh/index.js'
import {openStore} from '../../../src/store/index.js'
import {type Metric, type MetricPlace, telemetryFragment} from '../../../src/telemetry/index.js'
import {temporaryFolder} from '../../support/temporary.js'

const wanted = {SVC_MESH_CODEX_TELEMETRY: '1'}
const published = {
  name: 'local_registry_publish',
  details: {registry_path: '/r.json', node_id: 'n', scope_id: null},
  nowMs: 5000,
} as const

async function placeOf(test: TestContext, fragments = [telemetryFragment]): Promise<MetricPlace> {
  const store = await openStore(join(await temporaryFolder(test), 'store.db'), fragments)
  test.after(() => store.close())
  return {store, isKept: true, repositoryId: '9c3b5d2f0a417e68'}
}

const rowsOf = ({store}: MetricPlace) => store.all<Metric>('SELECT * FROM research_metrics ORDER BY id')

describe('mesh control events', () => {
  it('are recorded in a session of the repository', async (t) => {
    const place = await placeOf(t)
    recordControlEvent(place, {env: wanted}, published)
    const [{metadata_json: metadata, ...row} = {} as Metric] = rowsOf(place)
    assert.deepEqual(JSON.parse(metadata ?? ''), {
      name: 'local_registry_publish',
      repository_id: '9c3b5d2f0a417e68',
      details: published.details,
    })
    assert.deepEqual(await contractViolations('telemetry/metric-metadata.v1', JSON.parse(metadata ?? '')), [])
    assert.deepEqual(row, {
      id: 1,
      session_id: 'mesh:9c3b5d2f0a417e68',
      metric_type: 'mesh_control_event',
      metric_value: null,
      created_at: '1970-01-01 00:00:05',
    })
  })

  it('are recorded only if enabled and not in an in-memory store', async (t) => {
    const place = await placeOf(t)
    const off = {...wanted, SVC_TELEMETRY: 'off'}
    for (const env of [{}, {SVC_MESH_CODEX_TELEMETRY: '0'}, {SVC_MESH_CODEX_TELEMETRY: 'yes'}, off])
      recordControlEvent(place, {env}, published)
    recordControlEvent({...place, isKept: false}, {env: wanted}, published)
    assert.deepEqual(rowsOf(place), [])
  })

  it('never contain secrets', async (t) => {
    const place = await placeOf(t)
    const secrets = {
      SVC_MESH_TOKEN: 'canary-mesh-"quoted"',
      SVC_MESH_WORKER_TOKEN: 'canary-worker',
      SVC_MESH_SUBMITTER_TOKEN: 'canary-submitter',
      SVC_MESH_ADMIN_TOKEN: 'canary-admin',
      SVC_MESH_JWT_HMAC_SECRET: 'canary-hmac',
      SVC_MESH_BOOTSTRAP_TOKEN: 'canary-bootstrap',
    }
    const error = `it said: ${Object.values(secrets).join(', ')}`
    recordControlEvent(
      place,
      {env: {...wanted, ...secrets}},
      {
        name: 'mesh_http_join_err',
        details: {control_base: 'http://127.0.0.1:9', ok: false, node_id: 'n', scope_id: 's', error},
      },
    )
    const [row] = rowsOf(place)
    assert.match(row?.metadata_json ?? '', /it said: \[redacted\], \[redacted\]/)
    assert.doesNotMatch(JSON.stringify(row), /canary/)
  })

  it('have a type of their own for reconciled leases', async (t) => {
    const place = await placeOf(t)
    const details = {
      reason: 'holder_heartbeat_stale',
      lease_id: 'lease-31',
      holder_node_id: 'node-a',
      scope_key: 'task:18',
      expires_unix_ms: 1_760_000_120_000,
      auto_revoke_attempted: true,
      auto_revoke_ok: true,
    } as const
    recordControlEvent(place, {env: wanted}, {name: 'mesh_exec_lease_reconcile', details})
    const [row] = rowsOf(place)
    assert.deepEqual(
      [row?.metric_type, row?.session_id, JSON.parse(row?.metadata_json ?? '').details],
      ['mesh_exec_lease_reconcile', 'mesh:9c3b5d2f0a417e68', details],
    )
  })

  it('are limited to about the newest 10,000', async (t) => {
    const place = await placeOf(t)
    place.store.transaction(() => {
      for (let i = 1; i <= 10_120; i++) recordControlEvent(place, {env: wanted}, {...published, nowMs: i * 1000})
    })
    const ids = rowsOf(place).map(({id}) => id)
    assert.deepEqual([ids.length, ids[0], ids.at(-1)], [10_020, 101, 10_120])
  })

  it('that cannot be recorded do not cause an error', async (t) => {
    const place = await placeOf(t, [])
    recordControlEvent(place, {env: wanted}, published)
    assert.deepEqual(place.store.all("SELECT name FROM sqlite_schema WHERE name = 'research_metrics'"), [])
  })
})
