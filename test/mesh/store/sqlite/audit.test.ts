import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import type {MeshStore} from '../../../../src/mesh/store/mesh-store.js'
import {endOf, leaseMs, message, TestClock} from '../conformance/story.js'
import {connect, newPath, openAt} from './open-store.js'

interface Row {
  at: number
  actor: string
  action: string
  target: string
  detail: string
}

interface Epoch {
  lease: number
  holder: string
  from: number
  to: number
}

/** Lease epochs by key, reconstructed from the audit log. */
function epochsOf(rows: readonly Row[]): Map<string, Epoch[]> {
  const epochs = new Map<string, Epoch[]>()
  for (const {action, target, detail} of rows) {
    if (!action.startsWith('lease.')) continue
    const facts = JSON.parse(detail)
    const all = epochs.get(target) ?? []
    epochs.set(target, all)
    if (action === 'lease.granted')
      all.push({
        lease: Number(facts.lease_id),
        holder: facts.holder_node_id,
        from: facts.granted_unix_ms,
        to: facts.expires_unix_ms,
      })
    else {
      const epoch = all.find(({lease}) => lease === Number(facts.lease_id))
      assert.ok(epoch, `${action} of lease ${facts.lease_id}, which was never granted`)
      epoch.to = facts.ended_unix_ms
    }
  }
  return epochs
}

const rowsOf = (database: ReturnType<typeof connect>) =>
  database.prepare<[], Row>('SELECT at, actor, action, target, detail FROM mesh_audit ORDER BY id').all()

async function begin(t: Parameters<typeof newPath>[0]) {
  const clock = new TestClock()
  const path = await newPath(t)
  const open = () => openAt(t, path, {wallClock: () => clock.wall, monotonic: () => clock.passed})
  const store = await open()
  for (const id of ['n1', 'n2', 'n3']) await store.join('', {id, version: '1.0.0', capabilities: {}})
  return {clock, path, open, store}
}

describe('audit log', () => {
  it('shows the holder of a key at any time, across renewals, ends and restarts', async (t) => {
    const {clock, path, open, store: first} = await begin(t)
    let store: MeshStore = first
    /** Holder at a time according to the clients. */
    const known: {key: string; holder: string; lease: number; at: number}[] = []
    let state = 12_345
    const random = (below: number) => {
      state = (state * 1_103_515_245 + 12_345) % 2 ** 31
      return state % below
    }
    for (let i = 0; i < 400; i++) {
      const [holder, key] = [`n${1 + random(3)}`, `task:${random(3)}`]
      const lease = String(1 + random(40))
      const step = random(9)
      if (step <= 3) {
        const at = clock.wall
        const granted = await store.grantLease('', {scopeKey: key, claimer: holder}).catch(() => undefined)
        if (granted !== undefined) known.push({key, holder, lease: granted.fence_token, at})
      }
      if (step === 4) await endOf(store.renewLease('', {lease, claimer: holder}))
      if (step === 5) await endOf(store.releaseLease('', {lease, claimer: holder}))
      if (step === 6 && random(3) === 0) await endOf(store.revokeLease('', lease, 'boss'))
      if (step === 7) clock.advance(random(leaseMs))
      if (step === 8 && random(4) === 0) {
        await store.close()
        clock.advance(random(2 * leaseMs))
        store = await open()
      }
    }
    const epochs = epochsOf(rowsOf(connect(t, path)))
    assert.ok(known.length > 50)
    for (const {key, holder, lease, at} of known) {
      const epoch = epochs.get(key)?.find((each) => each.lease === lease)
      // A lease may be released in the millisecond of its grant.
      assert.ok(
        epoch && epoch.holder === holder && epoch.from <= at && at <= epoch.to,
        JSON.stringify({key, lease, at, epoch}),
      )
    }
    for (const all of epochs.values())
      for (const [i, epoch] of all.entries()) {
        const before = all[i - 1]
        assert.ok(
          before === undefined || (before.to <= epoch.from && before.lease < epoch.lease),
          JSON.stringify([before, epoch]),
        )
      }
    const live = new Set((await store.listLeases('')).map(({fence_token}) => fence_token))
    for (const all of epochs.values())
      for (const {lease, to} of all) assert.equal(to > clock.wall, live.has(lease), `lease ${lease}`)
  })

  it('records admin actions, dead messages and consumed tokens', async (t) => {
    const {clock, path, store} = await begin(t)
    await store.setQuarantine('', 'n1', true, 'ann')
    await store.setMaintenance('', 'n2', {on: true, forMs: 1000}, 'bob')
    const {lease_id: lease} = await store.grantLease('', {scopeKey: 'task:1', claimer: 'n3'})
    await store.revokeLease('', lease, 'ann')
    await store.useBootstrap('', 'ab'.repeat(32), {expiresMs: clock.wall + 1, by: 'n9'})
    await store.deliver('', message())
    for (let i = 0; i <= 16; i++) {
      await store.claim('', {receiver: '2', claimer: 'n3'})
      clock.advance(leaseMs)
    }
    await endOf(store.setQuarantine('', 'nobody', true, 'ann'))
    await endOf(store.useBootstrap('', 'ab'.repeat(32), {expiresMs: clock.wall + 1, by: 'n8'}))
    const rows = rowsOf(connect(t, path)).map(({actor, action, target, detail}) => [
      actor,
      action,
      target,
      JSON.parse(detail),
    ])
    const start = 1_767_225_600_000
    const lease17 = {lease_id: lease, scope_key: 'task:1', holder_node_id: 'n3'}
    assert.deepEqual(rows, [
      ['ann', 'node.quarantine', 'n1', {on: true}],
      ['bob', 'node.maintenance', 'n2', {on: true, until_unix_ms: start + 1000}],
      [
        'n3',
        'lease.granted',
        'task:1',
        {...lease17, granted_unix_ms: start, expires_unix_ms: start + leaseMs, renewals: 0},
      ],
      ['ann', 'lease.revoked', 'task:1', {...lease17, ended_unix_ms: start}],
      ['n9', 'bootstrap.used', 'abababababababab', {expires_unix_ms: start + 1}],
      ['store', 'message.dead', '1', {receiver_agent_id: '2', message_type: 'free_form', delivery_attempts: 16}],
    ])
  })
})
