import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import type {MeshNodesChangeV1, MeshNodesV1} from '../../src/contracts/index.js'
import {createMeshClient} from '../../src/mesh/index.js'
import {meshTokens, meshWorkspace, suiteMeshServer} from '../support/mesh-workspace.js'
import {assertFits} from '../support/orch-workspace.js'
import {writeFiles} from '../support/temporary.js'

describe('svc mesh nodes', () => {
  const server = suiteMeshServer()

  it('lists the nodes as text and JSON', async (t) => {
    const {text, json, join} = await meshWorkspace(t, server())
    assert.equal(await text(['nodes']), 'No nodes.\n')
    await join('rig1', '--labels', 'pool=train,disk=nvme')
    await join('rig2')
    await text(['admin', 'maintenance', 'rig2', '--state', 'on'])
    const table = await text(['nodes'])
    assert.match(table, /^NODE +VERSION +STATE +SEEN +TASKS +LABELS\nrig1 +\d\S+ +ok +\d+s +- +pool=train disk=nvme\n/)
    assert.match(table, /\nrig2 +\S+ +maintenance +/)

    const registry = await json<MeshNodesV1>('nodes', ['nodes'])
    assert.equal(registry.schema_version, 1)
    assert.deepEqual(
      registry.nodes.map(({id, capabilities}) => [id, capabilities?.labels]),
      [
        ['rig1', ['pool=train', 'disk=nvme']],
        ['rig2', undefined],
      ],
    )
    const ids = async (...args: string[]) =>
      (await json<MeshNodesV1>('nodes', ['nodes', ...args])).nodes.map(({id}) => id)
    assert.deepEqual(await ids('--label', 'pool=train', '-l', 'disk=nvme'), ['rig1'])
    assert.deepEqual(await ids('--label', 'pool=train', '-l', 'disk=none'), [])
    assert.deepEqual(await ids('--brief'), ['rig1', 'rig2'])
    for (const node of ['rig1', 'rig2']) await text(['leave', '--node', node])
  })

  it('shows the number of tasks of other machines that a node runs', async (t) => {
    const {text, json, join} = await meshWorkspace(t, server())
    await join('idle')
    await join('rig')
    const client = createMeshClient({baseUrl: server().baseUrl, tokens: {mesh: meshTokens.SVC_MESH_TOKEN}})
    t.after(() => client.close())
    await client.heartbeat({id: 'rig', running_tasks: 2})
    assert.match(await text(['nodes']), /^NODE .* TASKS +LABELS\nidle .* -\s*\nrig .* 2\s*$/)
    for (const args of [[], ['--brief']]) {
      const {nodes} = await json<MeshNodesV1>('nodes', ['nodes', ...args])
      assert.deepEqual(
        nodes.map(({running_tasks: count}) => count),
        [undefined, 2],
      )
    }
    for (const node of ['idle', 'rig']) await text(['leave', '--node', node])
  })

  it('marks stale nodes and hides those without a recent heartbeat', async (t) => {
    const {text, json, join, cwd} = await meshWorkspace(t, server())
    await join('old')
    await writeFiles(cwd, {'Svc.toml': '[orchestrator]\nstale_threshold_ms = 1\n'})
    assert.match(await text(['nodes']), /\nold +\S+ +stale +\d+s/)
    const env = {SVC_MESH_MAX_STALE_MS: '1'}
    assert.deepEqual((await json<MeshNodesV1>('nodes', ['nodes'], {env})).nodes, [])
    assert.equal((await json<MeshNodesV1>('nodes', ['nodes', '--max-stale-ms', '0'], {env})).nodes.length, 1)
    assert.deepEqual((await json<MeshNodesV1>('nodes', ['nodes', '--max-stale-ms', '1'])).nodes, [])
    await text(['leave', '--node', 'old'])
  })

  it('prints changes with --watch until it is stopped', async (t) => {
    const {text, join, start} = await meshWorkspace(t, server())
    await join('w1', '--labels', 'pool=a')
    const watching = start(['mesh', 'nodes', '--watch', '--interval', '1', '--json'])
    const change = async (count: number) => {
      const event = JSON.parse(await watching.line(count)) as MeshNodesChangeV1
      await assertFits('cli/mesh-nodes-change.v1', event)
      return [event.event, event.state, event.node.id, event.node.capabilities?.labels]
    }
    assert.deepEqual(await change(1), ['listed', 'ok', 'w1', ['pool=a']])
    await join('w2')
    assert.deepEqual(await change(2), ['joined', 'ok', 'w2', undefined])
    await text(['admin', 'quarantine', 'w2', '--state', 'on'])
    assert.deepEqual(await change(3), ['changed', 'quarantined', 'w2', undefined])
    await join('w1', '--labels', 'pool=b')
    assert.deepEqual(await change(4), ['changed', 'ok', 'w1', ['pool=b']])
    await text(['admin', 'quarantine', 'w2', '--state', 'off'])
    assert.deepEqual((await change(5)).slice(0, 3), ['changed', 'ok', 'w2'])
    await text(['leave', '--node', 'w2'])
    assert.deepEqual((await change(6)).slice(0, 3), ['left', 'ok', 'w2'])
    assert.equal(await watching.end('SIGINT'), 0)
    await text(['leave', '--node', 'w1'])
  })

  it('warns about invalid settings', async (t) => {
    const {run} = await meshWorkspace(t, server())
    const env = {SVC_ORCHESTRATOR_MESH_HTTP_TIMEOUT_MS: 'abc', SVC_MESH_HTTP_RETRY_TRANSIENT: 'abc'}
    const {exitCode, stderr} = await run(['nodes'], {env})
    assert.equal(exitCode, 0, stderr)
    for (const name of Object.keys(env)) assert.match(stderr, new RegExp(`^warning: .*${name}`, 'm'))
  })

  it('reports a missing address, a missing token and an unreachable server', async (t) => {
    const {fails, run} = await meshWorkspace(t, undefined, {})
    await fails(['nodes'], 2, 'mesh_address_missing')
    assert.match((await run(['nodes'])).stderr, /SVC_MESH_CONTROL_ADDR/)
    await fails(['nodes', '--control-url', server().baseUrl], 4, 'mesh_token_missing')
    const {SVC_MESH_SUBMITTER_TOKEN} = meshTokens
    const env = {SVC_MESH_TOKEN: SVC_MESH_SUBMITTER_TOKEN}
    await fails(['nodes', '--control-url', server().baseUrl], 4, 'role_forbidden', {env})
    const closed = {SVC_MESH_CONTROL_ADDR: 'http://127.0.0.1:1', SVC_MESH_HTTP_RETRY_TRANSIENT: '0'}
    await fails(['nodes'], 5, 'unreachable', {env: closed})
    await fails(['nodes', '--interval', '3'], 2, 'usage')
    assert.match(await fails(['nodes', '--label', 'a\nb'], 2, 'flag_value'), /^--label must be /)
  })
})
