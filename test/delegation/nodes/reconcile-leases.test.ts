import assert from 'node:assert/strict'
import {describe, it, type TestContext} from 'node:test'
import {LeaseReconciler, leaseMismatches, type Mismatch} from '../../../src/delegation/nodes/reconcile-leases.js'
import {SvcError} from '../../../src/errors/index.js'
import {type ExecLease, MeshHttpError, type NodeRecord} from '../../../src/mesh/index.js'
import {listMetrics} from '../../../src/telemetry/index.js'
import {openTestOrchestrator} from '../../orchestrator/support/open-test-orchestrator.js'

const listedAtMs = 1_764_000_000_000

const lease = (id: string, holder: string): ExecLease => ({
  lease_id: id,
  fence_token: Number(id),
  scope_key: `task:${id}`,
  holder_node_id: holder,
  expires_unix_ms: listedAtMs + 1000,
})

const node = (id: string, more: Partial<NodeRecord> = {}): NodeRecord => ({
  id,
  version: '1',
  capabilities: {},
  last_seen_unix_ms: listedAtMs,
  ...more,
})

describe('leaseMismatches', () => {
  const stale = {last_seen_unix_ms: listedAtMs - 60_001}
  const cases: readonly (readonly [says: string, holder: NodeRecord | undefined, reason: string | undefined])[] = [
    ['is present', node('n'), undefined],
    ['is not in the registry', undefined, 'holder_not_in_registry'],
    ['is stale', node('n', stale), 'holder_heartbeat_stale'],
    ['is in maintenance', node('n', {maintenance: true}), 'holder_in_maintenance'],
    ['has completed its maintenance', node('n', {maintenance: true, maintenance_until_unix_ms: listedAtMs}), undefined],
    ['is quarantined', node('n', {quarantined: true}), 'holder_quarantined'],
    ['is stale and quarantined', node('n', {...stale, quarantined: true}), 'holder_heartbeat_stale'],
    ['is in maintenance and quarantine', node('n', {maintenance: true, quarantined: true}), 'holder_in_maintenance'],
  ]
  for (const [says, holder, reason] of cases)
    it(`reports ${reason ?? 'nothing'} if the holder ${says}`, () => {
      const nodes = holder === undefined ? [] : [holder]
      const found = leaseMismatches([lease('1', 'n')], {nodes, listedAtMs, staleMs: 60_000})
      assert.deepEqual(
        found.map((one) => one.reason),
        reason === undefined ? [] : [reason],
      )
    })

  it('knows that a stale holder in maintenance is draining', () => {
    const holder = node('n', {...stale, maintenance: true})
    const [found] = leaseMismatches([lease('1', 'n')], {nodes: [holder], listedAtMs, staleMs: 60_000})
    assert.deepEqual([found?.reason, found?.isDraining], ['holder_heartbeat_stale', true])
  })
})

const claimer = 'orch-rig1'
const withToken = {SVC_MESH_ADMIN_TOKEN: 'canary-admin-token', SVC_MESH_CODEX_TELEMETRY: '1'}
const signal = new AbortController().signal

/** A reconciler, the leases that it revoked and the details that it recorded, oldest first. */
async function reconciler(
  t: TestContext,
  {autoRevoke = true, env = withToken as object, fault = undefined as unknown},
) {
  const all = {SVC_ORCHESTRATOR_MESH_EXEC_LEASE_AUTO_REVOKE: autoRevoke ? '1' : '0', ...env}
  const orchestrator = await openTestOrchestrator(t, {env: all})
  const revoked: string[] = []
  const client = {
    async revokeLease(id: string) {
      revoked.push(id)
      if (fault !== undefined) throw fault
    },
  }
  const one = new LeaseReconciler(orchestrator, {sources: {env: all}, claimer})
  return {
    revoked,
    reset: () => one.reset(),
    poll: (...mismatches: Mismatch[]) => one.reconcile(client, mismatches, signal),
    recorded: () =>
      listMetrics(orchestrator.store, {type: 'mesh_exec_lease_reconcile'})
        .reverse()
        .map(({metadata_json: json}) => JSON.parse(json ?? '').details as Record<string, unknown>),
    orchestrator,
  }
}

const mismatch = (reason: Mismatch['reason'], holder = 'n', isDraining = false): Mismatch => ({
  lease: lease('1', holder),
  reason,
  isDraining,
})
const isStale = mismatch('holder_heartbeat_stale')

const refusal = (status: number) =>
  new MeshHttpError({
    kind: 'http_status',
    context: 'admin_exec_lease_revoke',
    cause: new SvcError('mesh_denied', {operation: 'admin_exec_lease_revoke', status}),
    isTransient: false,
    status,
  })

describe('reconciliation of leases', () => {
  it('records a mismatch when it appears, and its revocation at the second consecutive poll', async (t) => {
    const {poll, recorded, revoked} = await reconciler(t, {})
    await poll(isStale)
    assert.deepEqual(revoked, [])
    await poll(isStale)
    assert.deepEqual(revoked, ['1'])
    const details = {
      reason: 'holder_heartbeat_stale',
      lease_id: '1',
      holder_node_id: 'n',
      scope_key: 'task:1',
      expires_unix_ms: listedAtMs + 1000,
    }
    assert.deepEqual(recorded(), [
      {...details, auto_revoke_attempted: false, auto_revoke_ok: null},
      {...details, auto_revoke_attempted: true, auto_revoke_ok: true},
    ])
  })

  it('starts again if a poll without the mismatch, with another one or a failed one is in between', async (t) => {
    const {poll, revoked, reset} = await reconciler(t, {})
    await poll(isStale)
    await poll()
    await poll(isStale)
    await poll(mismatch('holder_quarantined'))
    await poll(isStale)
    reset()
    await poll(isStale)
    assert.deepEqual(revoked, [])
  })

  const kept: readonly (readonly [says: string, found: Mismatch, options: {autoRevoke?: boolean; env?: object}])[] = [
    ['of nodes in maintenance', mismatch('holder_in_maintenance', 'n', true), {}],
    ['of stale nodes in maintenance', mismatch('holder_heartbeat_stale', 'n', true), {}],
    ['of this machine', mismatch('holder_heartbeat_stale', claimer), {}],
    ['if it is disabled', isStale, {autoRevoke: false}],
    ['without a token', isStale, {env: {SVC_MESH_CODEX_TELEMETRY: '1'}}],
    [
      'with a worker token only',
      isStale,
      {env: {SVC_MESH_CODEX_TELEMETRY: '1', SVC_MESH_WORKER_TOKEN: 'canary-worker-token'}},
    ],
  ]
  for (const [says, found, options] of kept)
    it(`never revokes leases ${says}`, async (t) => {
      const {poll, recorded, revoked} = await reconciler(t, options)
      for (let i = 0; i < 4; i++) await poll(found)
      assert.deepEqual(revoked, [])
      assert.deepEqual(
        recorded().map(({auto_revoke_attempted: attempted}) => attempted),
        [false],
      )
    })

  for (const [status, ok] of [
    [403, false],
    [404, true],
  ] as const)
    it(`records that a revocation ${ok ? 'succeeded' : 'failed'} if the control plane answers ${status}`, async (t) => {
      const {poll, recorded} = await reconciler(t, {fault: refusal(status)})
      await poll(isStale)
      await poll(isStale)
      assert.deepEqual(recorded().at(-1)?.auto_revoke_ok, ok)
    })

  it('records nothing unless mesh telemetry is enabled', async (t) => {
    const {poll, recorded, revoked} = await reconciler(t, {env: {SVC_MESH_TOKEN: 'canary-mesh-token'}})
    await poll(isStale)
    await poll(isStale)
    assert.deepEqual([recorded(), revoked], [[], ['1']])
  })
})
