import assert from 'node:assert/strict'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {type EventPlace, meshFragment, recordControlEvent} from '../../../src/mesh/index.js'
import {openStore} from '../../../src/store/index.js'
import {temporaryFolder} from '../../support/temporary.js'

interface Row {
  session_id: string
  repository_id: string
  name: string
  details_json: string
  created_at_ms: number
}

const wanted = {SVC_MESH_CODEX_TELEMETRY: '1'}
const published = {
  name: 'local_registry_publish',
  details: {registry_path: '/r.json', node_id: 'n', scope_id: null},
  nowMs: 5,
} as const

async function placeOf(test: TestContext, fragments = [meshFragment]): Promise<EventPlace> {
  const store = await openStore(join(await temporaryFolder(test), 'store.db'), fragments)
  test.after(() => store.close())
  return {store, isKept: true, repositoryId: '9c3b5d2f0a417e68'}
}

const rowsOf = ({store}: EventPlace) => store.all<Row>('SELECT * FROM mesh_control_events ORDER BY id')

describe('mesh control events', () => {
  it('are recorded in a session of the repository', async (t) => {
    const place = await placeOf(t)
    recordControlEvent(place, {env: wanted}, published)
    const [{details_json: details, ...row} = {} as Row] = rowsOf(place)
    assert.deepEqual(JSON.parse(details), published.details)
    assert.deepEqual(row, {
      id: 1,
      session_id: 'mesh:9c3b5d2f0a417e68',
      repository_id: '9c3b5d2f0a417e68',
      name: 'local_registry_publish',
      created_at_ms: 5,
    })
  })

  it('are recorded only if enabled and not in an in-memory store', async (t) => {
    const place = await placeOf(t)
    for (const env of [{}, {SVC_MESH_CODEX_TELEMETRY: '0'}, {SVC_MESH_CODEX_TELEMETRY: 'yes'}])
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
    assert.match(row?.details_json ?? '', /it said: \[redacted\], \[redacted\]/)
    assert.doesNotMatch(JSON.stringify(row), /canary/)
  })

  it('are limited to the newest 10,000', async (t) => {
    const place = await placeOf(t)
    place.store.transaction(() => {
      for (let i = 1; i <= 10_020; i++) recordControlEvent(place, {env: wanted}, {...published, nowMs: i})
    })
    const times = rowsOf(place).map(({created_at_ms: at}) => at)
    assert.deepEqual([times.length, times[0], times.at(-1)], [10_000, 21, 10_020])
  })

  it('that cannot be recorded do not cause an error', async (t) => {
    const place = await placeOf(t, [])
    recordControlEvent(place, {env: wanted}, published)
    assert.deepEqual(place.store.all("SELECT name FROM sqlite_schema WHERE name = 'mesh_control_events'"), [])
  })
})
