import assert from 'node:assert/strict'
import {symlink} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {publishNode} from '../../../src/mesh/index.js'
import {meshTokens} from '../../support/mesh-workspace.js'
import {orchWorkspace} from '../../support/orch-workspace.js'
import {temporaryFolder, writeFiles} from '../../support/temporary.js'

interface Told {
  data?: {mesh_env: Record<string, unknown>; registry_path: string; registry: {nodes: {id: string}[]}}
  code?: string
}

const node = (id: string) => ({id, version: '1', capabilities: {}, last_seen_unix_ms: Date.now()})

describe('svc_mesh_local_status', () => {
  it('contains settings, local nodes and whether secrets are set', async (t) => {
    const {run} = await orchWorkspace(t, '[mesh]\nlabels = ["pool=a"]\n')
    const home = await temporaryFolder(t)
    const registry = join(home, '.svc', 'cache', 'mesh', 'local-registry.json')
    await publishNode(registry, node('rig1'), Date.now())
    const env = {HOME: home, ...meshTokens, SVC_MESH_JWT_HMAC_SECRET: 'canary-of-at-least-thirty-two-bytes'}
    const {stdout, stderr, exitCode} = await run(['mcp', 'call', 'svc_mesh_local_status', '{}', '--json'], {env})
    assert.equal(exitCode, 0, stderr)
    assert.doesNotMatch(stdout + stderr, /canary/)
    const {mesh_env: mesh, registry_path: path, registry: found} = (JSON.parse(stdout) as Told).data ?? {}
    assert.deepEqual([path, found?.nodes.map(({id}) => id)], [registry, ['rig1']])
    assert.deepEqual([mesh?.enabled, mesh?.labels, mesh?.node_id], [false, ['pool=a'], null])
    assert.deepEqual(mesh?.security, {
      token_set: true,
      worker_token_set: true,
      submitter_token_set: true,
      admin_token_set: true,
      jwt_secret_set: true,
      bootstrap_token_set: false,
      mesh_auth_mode: 'role_mix',
      scope_set: false,
    })
  })

  it('is also a method of the daemon', async (t) => {
    const {run} = await orchWorkspace(t, '')
    const input = '{"id": "1", "method": "mesh.local_status", "params": {}}\n'
    const env = {...meshTokens, HOME: await temporaryFolder(t)}
    const {stdout} = await run(['daemon', 'run', '--listen', 'stdio'], {env, input})
    assert.match(stdout, /"mesh_env":.*"token_set":true.*"registry":/)
    assert.doesNotMatch(stdout, /canary/)
  })

  it('reads another registry only inside the workspace', async (t) => {
    const {run, cwd} = await orchWorkspace(t, '')
    const outside = await temporaryFolder(t)
    await writeFiles(outside, {'registry.json': '{"schema_version": 1, "nodes": []}'})
    await writeFiles(cwd, {'nodes.json': JSON.stringify({schema_version: 1, nodes: [node('x')]}), 'no.json': '['})
    await symlink(join(outside, 'registry.json'), join(cwd, 'link.json'))
    const call = async (path: string): Promise<Told> => {
      const args = ['mcp', 'call', 'svc_mesh_local_status', JSON.stringify({registry_path: path}), '--json']
      return JSON.parse((await run(args, {env: {HOME: cwd}})).stdout)
    }
    assert.deepEqual(
      (await call('nodes.json')).data?.registry.nodes.map(({id}) => id),
      ['x'],
    )
    const own = join(cwd, '.svc', 'cache', 'mesh', 'local-registry.json')
    assert.deepEqual((await call(own)).data?.registry.nodes, [], 'that of the machine need not be there')
    for (const path of [join(outside, 'registry.json'), '../registry.json', '/etc/passwd', 'link.json', '.'])
      assert.equal((await call(path)).code, 'path_denied', path)
    assert.equal((await call('missing.json')).code, 'file_not_found')
    assert.equal((await call('no.json')).code, 'document_unparsable')
  })
})
