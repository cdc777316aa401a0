import assert from 'node:assert/strict'
import {chmod} from 'node:fs/promises'
import {hostname} from 'node:os'
import {join as path} from 'node:path'
import {describe, it} from 'node:test'
import type {MeshPromoteV1, MeshStatusV1} from '../../src/contracts/index.js'
import {startMeshServer} from '../support/mesh-server.js'
import {meshTokens, meshWorkspace, suiteMeshServer} from '../support/mesh-workspace.js'
import {createDatabase, skipWithoutPostgres} from '../support/postgres.js'
import {writeFiles} from '../support/temporary.js'

describe('svc mesh status', () => {
  const server = suiteMeshServer()

  it('works without a control plane', async (t) => {
    const {json, text, cwd} = await meshWorkspace(t, undefined, {})
    const status = await json<MeshStatusV1>('status', ['status'])
    assert.deepEqual([status.state, status.health_ok, status.control_url], ['unconfigured', false, null])
    assert.deepEqual([status.self_record.id, status.queue, status.replicas, status.env_file], [null, null, null, null])
    assert.equal(status.registry_path, path(cwd, '.svc', 'cache', 'mesh', 'local-registry.json'))
    assert.deepEqual(status.registry, {schema_version: 1, nodes: []})
    assert.equal(status.security.mesh_auth_mode, 'open')
    assert.equal(status.wireguard_endpoint, null)
    assert.match(await text(['status']), /^Control plane: not configured\nThis node: +no node id\n/)
  })

  it('shows that the control plane is connected, and which secrets are set, without their values', async (t) => {
    const {json, text, run, join} = await meshWorkspace(t, server(), meshTokens)
    await join('me')
    await text(['deliver', '--from', '1', '--to', '2', '--type', 'free_form', 'x'])
    const env = {SVC_MESH_NODE_ID: 'me', SVC_MESH_SCOPE_ID: 's', SVC_MESH_LABELS: 'pool=a'}
    const status = await json<MeshStatusV1>('status', ['status'], {env})
    assert.deepEqual([status.state, status.health_ok, status.error], ['connected', true, null])
    assert.equal(status.queue?.pending_count, 1)
    const [replica] = status.replicas ?? []
    assert.deepEqual([status.replicas?.length, replica?.host], [1, hostname()])
    const {mesh_auth_mode: mode, jwt_secret_set: jwt, ...set} = status.security
    assert.deepEqual([mode, jwt], ['role_mix', false])
    assert.deepEqual(Object.values(set), [true, true, true, true, false, true])
    assert.equal(status.self_record.id, 'me')
    const {stdout, stderr} = await run(['status'], {env})
    assert.match(
      stdout,
      /^Control plane: http:\S+: connected\nMessages: +1 queued\nReplicas: +[0-9a-f]{8}, version \S+, on \S+ since .*\nThis node: +me\nTokens: +mesh, worker,/,
    )
    assert.doesNotMatch(JSON.stringify(status) + stdout + stderr, /canary/)
    const {security} = await json<MeshStatusV1>('status', ['status'], {
      env: {SVC_MESH_WORKER_TOKEN: '', SVC_MESH_SUBMITTER_TOKEN: '', SVC_MESH_ADMIN_TOKEN: ''},
    })
    assert.equal(security.mesh_auth_mode, 'legacy_mesh_only')
  })

  it('shows all control planes of a PostgreSQL database', {skip: skipWithoutPostgres}, async (t) => {
    const args = ['--store', await createDatabase()]
    const [first, second] = [
      await startMeshServer(t, {env: meshTokens, args}),
      await startMeshServer(t, {env: meshTokens, args}),
    ]
    const {json, text} = await meshWorkspace(t, first, meshTokens)
    const {replicas} = await json<MeshStatusV1>('status', ['status'])
    assert.equal(new Set(replicas?.map(({id}) => id)).size, 2)
    assert.match(await text(['status']), /^Replicas: +[0-9a-f]{8}, .*\n {15}[0-9a-f]{8}, version/m)
    const {fence_token: fence} = await json<MeshPromoteV1>('promote', ['admin', 'promote'])
    assert.equal(fence, 1_000_001)
    assert.equal(await text(['admin', 'promote']), 'all new leases have ids above 2000002\n')
    await second.stop()
    const left = await json<MeshStatusV1>('status', ['status'])
    assert.deepEqual(left.replicas, replicas?.slice(0, 1))
  })

  it('shows the process that runs the tasks of other machines', async (t) => {
    const {json, text, startInTurn} = await meshWorkspace(t, server(), meshTokens)
    const {worker: none} = await json<MeshStatusV1>('status', ['status'])
    assert.equal(none, null)
    assert.match(await text(['status']), /^Worker: +not running$/m)
    const startedMs = Date.now()
    const joining = startInTurn(['mesh', 'join', '--node', 'w', '--work', '--json'])
    const {pid} = JSON.parse(await joining.line(1))
    assert.equal(JSON.parse(await joining.line(2)).event, 'working')
    const {worker} = await json<MeshStatusV1>('status', ['status'])
    assert.equal(worker?.pid, pid)
    assert.ok(startedMs <= Number(worker?.since_unix_ms))
    assert.match(await text(['status']), new RegExp(`^Worker: +pid ${pid} of this user since \\d{4}-\\d\\d-`, 'm'))
    assert.equal(await joining.end('SIGTERM'), 0)
    assert.equal((await json<MeshStatusV1>('status', ['status'])).worker, null)
  })

  it('reports why the control plane is not available', async (t) => {
    const {json, text} = await meshWorkspace(t, server(), {SVC_MESH_TOKEN: 'canary-wrong'})
    const denied = await json<MeshStatusV1>('status', ['status'])
    assert.deepEqual([denied.state, denied.health_ok, denied.queue], ['denied', true, null])
    assert.match(denied.error ?? '', /unauthorized/)
    assert.doesNotMatch(JSON.stringify(denied), /canary/)
    const away = ['status', '--control-url', 'http://127.0.0.1:1']
    const unreachable = await json<MeshStatusV1>('status', away)
    assert.deepEqual([unreachable.state, unreachable.health_ok], ['unreachable', false])
    assert.match(await text(away), /^Control plane: http:\/\/127\.0\.0\.1:1: not reachable: /)
  })

  it('lists the nodes of this machine, and reports a damaged node id', async (t) => {
    const {text, fails, cwd} = await meshWorkspace(t, undefined, {})
    const nodes = ['rig1', 'rig2'].map((id) => ({id, version: '1', last_seen_unix_ms: 1}))
    await writeFiles(cwd, {'.svc/cache/mesh/local-registry.json': JSON.stringify({schema_version: 1, nodes})})
    assert.match(await text(['status']), /^This node: +no node id\n(.*\n)*Registry: +\S+ \(2 nodes: rig1, rig2\)\n/m)
    await writeFiles(cwd, {'.svc/mesh/node-id': 'no id\nat all\n'})
    assert.match(await fails(['status'], 1, 'file_unreadable'), /node-id: the file does not contain a node id/)
  })

  it('shows the file of the secrets and the endpoint of the VPN, and tolerates a damaged registry', async (t) => {
    const {json, text, cwd} = await meshWorkspace(t, undefined, {})
    const toml = '[mesh.transport]\nwireguard_endpoint = "vpn.example:51820"\n'
    await writeFiles(cwd, {'.svc/cache/mesh/local-registry.json': '{"nodes":', 'Svc.toml': toml})
    const file = '.svc/mesh/mesh.env'
    await writeFiles(cwd, {[file]: 'SVC_MESH_TOKEN=canary-of-the-file\n'})
    await chmod(path(cwd, file), 0o600)
    const status = await json<MeshStatusV1>('status', ['status'])
    assert.deepEqual([status.env_file, status.security.token_set], [path(cwd, file), true])
    assert.equal(status.registry, null)
    assert.match(status.registry_error ?? '', /Cannot parse .*local-registry\.json/)
    assert.equal(status.wireguard_endpoint, 'vpn.example:51820')
    assert.match(await text(['status']), /^WireGuard: +vpn\.example:51820$/m)
  })
})
