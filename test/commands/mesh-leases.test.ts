import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import type {MeshLeasesV1, MeshLeaseV1} from '../../src/contracts/index.js'
import {meshTokens, meshWorkspace, suiteMeshServer} from '../support/mesh-workspace.js'

describe('svc mesh leases', () => {
  const server = suiteMeshServer()

  it('grants, renews, verifies, releases and lists leases', async (t) => {
    const {text, json, join} = await meshWorkspace(t, server())
    await join('a')
    assert.equal(await text(['leases']), 'No leases.\n')
    const as = ['--node', 'a']
    const lease = await json<MeshLeaseV1>('lease', ['leases', '--grant', 'task:1', ...as])
    assert.deepEqual([lease.state, lease.scope_key, lease.holder_node_id], ['granted', 'task:1', 'a'])
    assert.equal(String(lease.fence_token), lease.lease_id)
    assert.equal(await text(['leases', '--grant', 'task:1', ...as]), `${lease.lease_id}\n`, 'the same one, for longer')
    assert.equal(await text(['leases', '--renew', lease.lease_id, ...as]), 'renewed\n')
    const {state, ...held} = await json<MeshLeaseV1>('lease', ['leases', '--verify', lease.lease_id, '--key', 'task:1'])
    assert.deepEqual([state, held.holder_node_id], ['held', 'a'])
    const {leases} = await json<MeshLeasesV1>('leases', ['leases'])
    assert.deepEqual(
      leases.map(({lease_id: id, scope_key: key}) => [id, key]),
      [[lease.lease_id, 'task:1']],
    )
    assert.match(await text(['leases']), /^LEASE +KEY +HOLDER +LEFT\n\d+ +task:1 +a +\d+[sm]\n/)
    assert.equal(await text(['leases', '--release', lease.lease_id, ...as]), 'released\n')
    const gone = await json<MeshLeaseV1>('lease', ['leases', '--release', lease.lease_id, ...as])
    assert.deepEqual(gone, {lease_id: lease.lease_id, state: 'not_found'})
    const next = await json<MeshLeaseV1>('lease', ['leases', '--grant', 'task:1', ...as])
    assert.ok(Number(next.fence_token) > Number(lease.fence_token))
    await text(['leave', '--node', 'a'])
  })

  it('exits with status 3 if there is no lease, and with 4 if another node holds it', async (t) => {
    const {text, fails, join} = await meshWorkspace(t, server())
    await join('b')
    await join('c')
    const lease = (await text(['leases', '--grant', 'task:2', '--node', 'b'])).trim()
    await fails(['leases', '--grant', 'task:2', '--node', 'c'], 4, 'lease_held')
    await fails(['leases', '--renew', lease, '--node', 'c'], 4, 'not_lease_holder')
    await fails(['leases', '--grant', 'x', '--node', 'nobody'], 4, 'unknown_node')
    assert.equal(await text(['admin', 'revoke-lease', lease]), `lease ${lease} is revoked\n`)
    await fails(['leases', '--renew', lease, '--node', 'b'], 3, 'lease_not_found')
    await fails(['leases', '--verify', lease, '--key', 'task:2'], 3, 'lease_not_found')
    await fails(['admin', 'revoke-lease', lease], 3, 'lease_not_found')
    for (const node of ['b', 'c']) await text(['leave', '--node', node])
  })

  it('refuses to skip fencing tokens of a file', async (t) => {
    const {fails} = await meshWorkspace(t, server())
    assert.match(await fails(['admin', 'promote'], 4, 'promotion_unsupported'), /SQLite file/)
  })

  it('accepts one action, a valid lease and a known node', async (t) => {
    const {fails} = await meshWorkspace(t, server())
    await fails(['leases', '--grant', 'x', '--renew', '1'], 2, 'usage')
    await fails(['leases', '--verify', '1'], 2, 'usage')
    await fails(['leases', '--grant', 'x'], 2, 'usage')
    const key = ['--key', 'k']
    for (const [verb, ...more] of [['--renew'], ['--release'], ['--verify', ...key]] as const)
      for (const lease of ['abc', '1.5', '0', '-1'])
        assert.match(
          await fails(['leases', `${verb}=${lease}`, ...more], 2, 'flag_value'),
          new RegExp(`^${verb} must be `),
        )
    assert.match(await fails(['admin', 'revoke-lease', 'abc'], 2, 'flag_value'), /^LEASE must be /)
    assert.match(await fails(['leases', '--grant', 'x', '--node', 'a\tb'], 2, 'flag_value'), /^--node must be /)
  })

  it('lists leases only for an administrator', async (t) => {
    const {SVC_MESH_WORKER_TOKEN, SVC_MESH_ADMIN_TOKEN} = meshTokens
    const {fails, text} = await meshWorkspace(t, server(), {SVC_MESH_WORKER_TOKEN})
    await fails(['leases'], 4, 'mesh_token_missing')
    assert.equal(await text(['leases'], {env: {SVC_MESH_ADMIN_TOKEN}}), 'No leases.\n')
  })
})

describe('svc mesh admin', () => {
  const server = suiteMeshServer()

  it('turns maintenance and quarantine of nodes on and off', async (t) => {
    const {text, json, fails, join} = await meshWorkspace(t, server())
    await join('n')
    const grant = ['leases', '--grant', 'task:3', '--node', 'n']
    const maintenance = ['admin', 'maintenance', 'n', '--state']
    assert.equal(await text([...maintenance, 'on']), 'n is in maintenance\n')
    const from = Date.now()
    const output = await text([...maintenance, 'on', '--for-minutes', '30'])
    const [, deadline = ''] = /^n is in maintenance until (\S+)\n$/.exec(output) ?? []
    assert.ok(Date.parse(deadline) >= from + 1_800_000 && Date.parse(deadline) <= Date.now() + 1_800_000, output)
    assert.match(await text(['nodes']), /\nn +\S+ +maintenance, \d+m left /)
    await fails(grant, 4, 'node_maintenance')
    assert.deepEqual(await json('maintenance', [...maintenance, 'off']), {node_id: 'n', maintenance: false})
    const until = String(Date.now() + 3_600_000)
    assert.deepEqual(await json('maintenance', [...maintenance, 'on', '--until-unix-ms', until]), {
      node_id: 'n',
      maintenance: true,
      maintenance_until_unix_ms: Number(until),
    })
    await text([...maintenance, 'off'])

    const quarantine = ['admin', 'quarantine', 'n', '--state']
    assert.deepEqual(await json('quarantine', [...quarantine, 'on']), {node_id: 'n', quarantined: true})
    assert.match(await text(['nodes']), /\nn +\S+ +quarantined /)
    await fails(grant, 4, 'node_quarantined')
    assert.equal(await text([...quarantine, 'off']), 'n is out of quarantine\n')
    const lease = await text(grant)
    assert.deepEqual(await json('revoke-lease', ['admin', 'revoke-lease', lease.trim()]), {
      lease_id: lease.trim(),
      revoked: true,
    })
  })

  it('accepts one deadline, and none with --state off', async (t) => {
    const {fails} = await meshWorkspace(t, server())
    const maintenance = ['admin', 'maintenance', 'n']
    await fails(maintenance, 2, 'usage')
    await fails([...maintenance, '--state', 'half'], 2, 'usage')
    await fails([...maintenance, '--state', 'on', '--for-minutes', '5', '--until-unix-ms', '9'], 2, 'usage')
    await fails([...maintenance, '--state', 'off', '--for-minutes', '5'], 2, 'usage')
    await fails([...maintenance, '--state', 'on', '--until-unix-ms', String(Date.now() - 1000)], 2, 'flag_value')
    await fails([...maintenance, '--state', 'on', '--until-unix-ms', '9007199254740991'], 2, 'usage')
    assert.match(await fails(['admin', 'quarantine', 'a\tb', '--state', 'on'], 2, 'flag_value'), /^NODE must be /)
    await fails(['admin', 'quarantine', 'nobody', '--state', 'on'], 3, 'node_not_found')
    await fails(['admin', 'maintenance', 'nobody', '--state', 'off'], 3, 'node_not_found')
  })

  it('requires the token of an administrator', async (t) => {
    const {SVC_MESH_WORKER_TOKEN} = meshTokens
    const {fails} = await meshWorkspace(t, server(), {SVC_MESH_WORKER_TOKEN})
    await fails(['admin', 'quarantine', 'n', '--state', 'on'], 4, 'mesh_token_missing')
    await fails(['admin', 'maintenance', 'n', '--state', 'on'], 4, 'mesh_token_missing')
    await fails(['admin', 'revoke-lease', '1'], 4, 'mesh_token_missing')
  })
})
