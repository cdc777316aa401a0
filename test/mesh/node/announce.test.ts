import assert from 'node:assert/strict'
import {readdir, readFile} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import type {MeshNodesV1} from '../../../src/contracts/index.js'
import {readLocalRegistry} from '../../../src/mesh/index.js'
import {openDatabase} from '../../../src/store/index.js'
import {meshTokens, meshWorkspace, suiteMeshServer} from '../../support/mesh-workspace.js'
import {until} from '../../support/until.js'

const enabled = {SVC_MESH_ENABLED: '1', SVC_MESH_NODE_ID: 'editor', SVC_MESH_CODEX_TELEMETRY: '1'}
const asWorker = {SVC_MESH_WORKER_TOKEN: meshTokens.SVC_MESH_WORKER_TOKEN}

const registryOf = (home: string) => join(home, '.svc', 'cache', 'mesh', 'local-registry.json')
const idsIn = async (home: string) => (await readLocalRegistry(registryOf(home))).nodes.map(({id}) => id)

interface Event {
  session_id: string
  repository_id: string
  name: string
  details: Record<string, unknown>
}

/** Mesh events in the store of a workspace; empty if there is no store. */
async function eventsIn(workspace: string): Promise<Event[]> {
  try {
    const database = await openDatabase(join(workspace, '.svc', 'store.db'), {readonly: true})
    try {
      const rows = database
        .prepare("SELECT * FROM research_metrics WHERE metric_type = 'mesh_control_event' ORDER BY id")
        .all()
      return (rows as {session_id: string; metadata_json: string}[]).map(({session_id, metadata_json}) => ({
        session_id,
        ...JSON.parse(metadata_json),
      }))
    } finally {
      database.close()
    }
  } catch {
    return []
  }
}

const names = (events: readonly Event[]) => events.map(({name}) => name)

/** Contents of all files below a folder. */
async function everything(folder: string): Promise<string> {
  const entries = await readdir(folder, {recursive: true, withFileTypes: true})
  const files = entries.filter((entry) => entry.isFile())
  return (await Promise.all(files.map((file) => readFile(join(file.parentPath, file.name), 'latin1')))).join('\n')
}

describe('long-lived process with an enabled mesh', () => {
  const server = suiteMeshServer()

  it('is registered locally and at the control plane while it serves tools', async (t) => {
    const {start, json, cwd} = await meshWorkspace(t, server(), asWorker)
    const serving = start(['mcp', 'serve', '--http', '0', '--json'], {env: enabled})
    await serving.line(1)
    await until(async () => (await eventsIn(cwd)).length === 2, 'two events')
    assert.deepEqual(await idsIn(cwd), ['editor'])
    const listed = async () => (await json<MeshNodesV1>('nodes', ['nodes'])).nodes.map(({id}) => id)
    assert.deepEqual(await listed(), ['editor'])
    assert.equal(await serving.end('SIGTERM'), 0)
    assert.deepEqual(await listed(), ['editor'], 'it stays listed, so that it can come back')
    await json('leave', ['leave', '--node', 'editor'])

    const events = await eventsIn(cwd)
    assert.deepEqual(names(events).sort(), ['local_registry_publish', 'mesh_http_join_ok'])
    for (const {session_id: session, repository_id: repository} of events) assert.equal(session, `mesh:${repository}`)
    const byName = Object.fromEntries(events.map(({name, details}) => [name, details]))
    assert.deepEqual(byName.local_registry_publish, {registry_path: registryOf(cwd), node_id: 'editor', scope_id: null})
    assert.deepEqual(byName.mesh_http_join_ok, {
      control_base: server().baseUrl,
      node_id: 'editor',
      scope_id: null,
      ok: true,
      error: null,
    })
    assert.doesNotMatch((await everything(cwd)) + serving.stderr(), /canary/)
  })

  it('does not overwrite the labels reported by another process of the node', async (t) => {
    const {startInTurn, json, join, cwd} = await meshWorkspace(t, server(), asWorker)
    await join('editor', '--labels', 'pool=train')
    const serving = startInTurn(['mcp', 'serve', '--http', '0', '--json'], {env: enabled})
    await serving.line(1)
    await until(async () => names(await eventsIn(cwd)).includes('mesh_http_join_ok'), 'the event of its join')
    const [node] = (await json<MeshNodesV1>('nodes', ['nodes'])).nodes
    assert.deepEqual([node?.id, node?.capabilities?.labels], ['editor', ['pool=train']])
    assert.equal(await serving.end('SIGTERM'), 0)
    await json('leave', ['leave', '--node', 'editor'])
  })

  it('works if the control plane is unreachable or refuses it', async (t) => {
    const settings: readonly Record<string, string>[] = [
      {SVC_MESH_WORKER_TOKEN: 'canary-wrong', SVC_LOG: 'debug'},
      {SVC_MESH_CONTROL_ADDR: 'http://127.0.0.1:1', SVC_MESH_TOKEN: 'canary-away'},
    ]
    for (const env of settings) {
      const {start, cwd} = await meshWorkspace(t, server(), asWorker)
      const serving = start(['mcp', 'serve', '--http', '0', '--json'], {env: {...enabled, ...env}})
      await serving.line(1)
      await until(async () => names(await eventsIn(cwd)).includes('mesh_http_join_err'), 'the event of a failure')
      assert.equal(await serving.end('SIGTERM'), 0)
      const failed = (await eventsIn(cwd)).find(({name}) => name === 'mesh_http_join_err')
      assert.equal(failed?.details.ok, false)
      assert.match(String(failed?.details.error), /unauthorized|Cannot reach/)
      assert.doesNotMatch((await everything(cwd)) + serving.stderr(), /canary/)
      if (env.SVC_LOG === undefined) assert.match(serving.stderr(), /^Serving the tools of .*\n$/, 'nothing is logged')
      else assert.match(serving.stderr(), /svc\.mesh.*failed/)
    }
  })

  it('works if the local registry cannot be written', async (t) => {
    const {startInTurn, cwd} = await meshWorkspace(t, undefined, {})
    const env = {...enabled, SVC_MESH_REGISTRY_PATH: '/dev/null/registry.json'}
    const serving = startInTurn(['mcp', 'serve', '--http', '0', '--json'], {env})
    await serving.line(1)
    assert.equal(await serving.end('SIGTERM'), 0)
    assert.deepEqual(await eventsIn(cwd), [])
  })

  it('is registered while it runs tasks', async (t) => {
    const {startInTurn, cwd} = await meshWorkspace(t, server(), asWorker)
    const env = {...enabled, SVC_MESH_HTTP_JOIN: '0', SVC_MESH_NODE_ID: 'runner'}
    const running = startInTurn(['daemon', 'run', '--json', '--drain', '0'], {env})
    await running.line(1)
    await until(async () => (await eventsIn(cwd)).length === 1, 'one event')
    assert.equal(await running.end('SIGTERM'), 0)
    assert.deepEqual(await idsIn(cwd), ['runner'])
    assert.deepEqual(names(await eventsIn(cwd)), ['local_registry_publish'])
  })

  it('is not registered if the mesh is disabled', async (t) => {
    const {startInTurn, cwd} = await meshWorkspace(t, server(), asWorker)
    const serving = startInTurn(['mcp', 'serve', '--http', '0', '--json'], {env: {...enabled, SVC_MESH_ENABLED: '0'}})
    await serving.line(1)
    assert.equal(await serving.end('SIGTERM'), 0)
    assert.deepEqual(await readdir(cwd), ['Svc.toml'])
  })
})

describe('status tool with a configured mesh', () => {
  const server = suiteMeshServer()

  it('records its mesh request and the result', async (t) => {
    const {cwd, env, startInTurn} = await meshWorkspace(t, server(), asWorker)
    const call = async (more: Record<string, string>) => {
      const called = startInTurn(['mcp', 'call', 'svc_orchestrator_status', '{}', '--json'], {env: {...env, ...more}})
      assert.equal(await called.end(), 0, called.stderr())
    }
    const telemetry = {SVC_MESH_CODEX_TELEMETRY: '1'}
    await call({})
    await call(telemetry)
    await call({...telemetry, SVC_MESH_WORKER_TOKEN: 'canary-wrong'})
    const events = await eventsIn(cwd)
    assert.deepEqual(names(events), Array(2).fill('orchestrator_status_mesh_snapshot'))
    const [well, ill] = events.map(({details}) => details)
    assert.deepEqual(well, {ok: true, node_count: 0, schema_version: 1, error: null})
    assert.deepEqual([ill?.ok, ill?.node_count], [false, null])
    assert.doesNotMatch(await everything(cwd), /canary/)
  })
})
