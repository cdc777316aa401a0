import type {Database} from 'better-sqlite3'
import {SvcError} from '../../../errors/index.js'
import {type ExecLease, type LeaseVerification, mostLeasesListed} from '../../protocol/lease.js'
import type {Scope} from '../mesh-store.js'
import type {Audit} from './audit.js'
import type {Counters} from './counters.js'
import type {Turn} from './group-commit.js'
import type {Nodes} from './nodes.js'

interface LeaseRow {
  scope_id: string
  scope_key: string
  lease_id: number
  holder: string
  granted_at: number
  expires_at: number
  renewals: number
  state: 'granted' | 'released' | 'revoked' | 'expired'
  audit_id: number
}

export interface Leases {
  grant(turn: Turn, scope: Scope, claim: {scopeKey: string; claimer: string}): ExecLease
  renew(turn: Turn, scope: Scope, held: {lease: string; claimer: string}): void
  release(turn: Turn, scope: Scope, held: {lease: string; claimer: string}): void
  verify(turn: Turn, scope: Scope, lease: {lease: string; scopeKey: string}): LeaseVerification
  list(turn: Turn, scope: Scope): ExecLease[]
  /** Leases that are held; right where all that has run out is marked. */
  count(scope: Scope): number
  revoke(turn: Turn, scope: Scope, lease: string, actor: string): void
  /** Releases all that a node holds. */
  releaseOf(turn: Turn, scope: Scope, holder: string): void
  /** Marks what has run out, a bounded part at once. */
  sweep(turn: Turn): void
  /** Whether nothing has run out that was not marked yet. */
  isSwept(now: number): boolean
}

/** Leases that are marked as run out in one transaction. */
const mostSwept = 1000

const toLease = (row: LeaseRow): ExecLease => ({
  lease_id: String(row.lease_id),
  fence_token: row.lease_id,
  scope_key: row.scope_key,
  holder_node_id: row.holder,
  expires_unix_ms: row.expires_at,
})

export function createLeases(
  database: Database,
  {nodes, audit, counters, leaseMs}: {nodes: Nodes; audit: Audit; counters: Counters; leaseMs: number},
): Leases {
  const byKey = database.prepare<[string, string], LeaseRow>(
    'SELECT * FROM mesh_exec_leases WHERE scope_id = ? AND scope_key = ?',
  )
  const byId = database.prepare<[number, string], LeaseRow>(
    'SELECT * FROM mesh_exec_leases WHERE lease_id = ? AND scope_id = ?',
  )
  const byHolder = database.prepare<[string, string], LeaseRow>(
    "SELECT * FROM mesh_exec_leases WHERE scope_id = ? AND holder = ? AND state = 'granted'",
  )
  const held = database.prepare<[string, number, number], LeaseRow>(
    "SELECT * FROM mesh_exec_leases WHERE scope_id = ? AND state = 'granted' AND expires_at > ? ORDER BY holder, lease_id LIMIT ?",
  )
  const counted = database
    .prepare<[string], number>("SELECT count(*) FROM mesh_exec_leases WHERE scope_id = ? AND state = 'granted'")
    .pluck()
  const due = database.prepare<[number, number], LeaseRow>(
    "SELECT * FROM mesh_exec_leases WHERE state = 'granted' AND expires_at <= ? ORDER BY expires_at LIMIT ?",
  )
  const firstDue = database
    .prepare<[], number | null>("SELECT min(expires_at) FROM mesh_exec_leases WHERE state = 'granted'")
    .pluck()
  // The number comes from the branch that has found the key free, under the lock: never before.
  const beginEpoch = database.prepare(
    `INSERT INTO mesh_exec_leases (scope_id, scope_key, lease_id, holder, granted_at, expires_at, state, audit_id)
VALUES (?, ?, ?, ?, ?, ?, 'granted', ?)
ON CONFLICT (scope_id, scope_key) DO UPDATE SET lease_id = excluded.lease_id, holder = excluded.holder,
  granted_at = excluded.granted_at, expires_at = excluded.expires_at, renewals = 0, state = 'granted', ended_at = NULL,
  audit_id = excluded.audit_id
WHERE mesh_exec_leases.state <> 'granted'`,
  )
  const extend = database.prepare<[number, number]>(
    "UPDATE mesh_exec_leases SET expires_at = ?, renewals = renewals + 1 WHERE lease_id = ? AND state = 'granted'",
  )
  const end = database.prepare<[string, number, number]>(
    "UPDATE mesh_exec_leases SET state = ?, ended_at = ? WHERE lease_id = ? AND state = 'granted'",
  )

  /** Nothing runs out before this, Unix ms. */
  let quietUntil = firstDue.get() ?? Number.POSITIVE_INFINITY
  const setQuiet = (turn: Turn, until: number) => {
    const before = quietUntil
    quietUntil = until
    turn.undo(() => {
      quietUntil = before
    })
  }

  const detailOf = (row: Omit<LeaseRow, 'scope_id' | 'state' | 'audit_id'>) => ({
    lease_id: String(row.lease_id),
    scope_key: row.scope_key,
    holder_node_id: row.holder,
    granted_unix_ms: row.granted_at,
    expires_unix_ms: row.expires_at,
    renewals: row.renewals,
  })

  function renewRow(turn: Turn, row: LeaseRow): LeaseRow {
    const renewed = {...row, expires_at: turn.now + leaseMs, renewals: row.renewals + 1}
    extend.run(renewed.expires_at, row.lease_id)
    audit.rewrite(turn, row.audit_id, detailOf(renewed))
    return renewed
  }

  function endRow(turn: Turn, row: LeaseRow, how: {state: Exclude<LeaseRow['state'], 'granted'>; actor: string}): void {
    const endedAt = how.state === 'expired' ? row.expires_at : turn.now
    end.run(how.state, endedAt, row.lease_id)
    audit.write(turn, {
      scope: row.scope_id,
      actor: how.actor,
      action: `lease.${how.state}`,
      target: row.scope_key,
      detail: {
        lease_id: String(row.lease_id),
        scope_key: row.scope_key,
        holder_node_id: row.holder,
        ended_unix_ms: endedAt,
      },
    })
  }

  /** A lease that holds. One that has run out is marked, so that nothing brings it back. */
  function live(turn: Turn, row: LeaseRow | undefined): LeaseRow | undefined {
    if (row?.state !== 'granted') return undefined
    if (row.expires_at > turn.now) return row
    endRow(turn, row, {state: 'expired', actor: 'store'})
    return undefined
  }

  function find(turn: Turn, scope: Scope, lease: string): LeaseRow {
    const row = /^[1-9]\d{0,14}$/.test(lease) ? live(turn, byId.get(Number(lease), scope)) : undefined
    if (row === undefined) throw new SvcError('lease_not_found', {lease})
    return row
  }

  function own(turn: Turn, scope: Scope, {lease, claimer}: {lease: string; claimer: string}): LeaseRow {
    const row = find(turn, scope, lease)
    if (row.holder !== claimer) throw new SvcError('not_lease_holder', {what: `lease ${lease}`})
    return row
  }

  return {
    grant(turn, scope, {scopeKey, claimer}) {
      nodes.admitted(turn, scope, claimer)
      const row = live(turn, byKey.get(scope, scopeKey))
      if (row !== undefined && row.holder !== claimer) throw new SvcError('lease_held', {scopeKey})
      if (row !== undefined) return toLease(renewRow(turn, row))
      const epoch = {
        scope_key: scopeKey,
        lease_id: counters.next(turn, 'fence'),
        holder: claimer,
        granted_at: turn.now,
        expires_at: turn.now + leaseMs,
        renewals: 0,
      }
      const auditId = audit.write(turn, {
        scope,
        actor: claimer,
        action: 'lease.granted',
        target: scopeKey,
        detail: detailOf(epoch),
      })
      beginEpoch.run(scope, scopeKey, epoch.lease_id, claimer, epoch.granted_at, epoch.expires_at, auditId)
      if (epoch.expires_at < quietUntil) setQuiet(turn, epoch.expires_at)
      return toLease({...epoch, scope_id: scope, state: 'granted', audit_id: auditId})
    },

    renew(turn, scope, held) {
      nodes.tolerated(scope, held.claimer)
      renewRow(turn, own(turn, scope, held))
    },

    release(turn, scope, held) {
      nodes.known(scope, held.claimer)
      endRow(turn, own(turn, scope, held), {state: 'released', actor: held.claimer})
    },

    verify(turn, scope, {lease, scopeKey}) {
      const row = find(turn, scope, lease)
      if (row.scope_key !== scopeKey) throw new SvcError('lease_not_found', {lease})
      return {
        valid: true,
        holder_node_id: row.holder,
        expires_unix_ms: row.expires_at,
        server_time_unix_ms: turn.now,
      }
    },

    list: (turn, scope) => held.all(scope, turn.now, mostLeasesListed).map(toLease),

    count: (scope) => counted.get(scope) ?? 0,

    revoke: (turn, scope, lease, actor) => endRow(turn, find(turn, scope, lease), {state: 'revoked', actor}),

    releaseOf(turn, scope, holder) {
      for (const row of byHolder.all(scope, holder)) {
        const held = live(turn, row)
        if (held !== undefined) endRow(turn, held, {state: 'released', actor: holder})
      }
    },

    sweep(turn) {
      if (turn.now < quietUntil) return
      for (const row of due.all(turn.now, mostSwept)) endRow(turn, row, {state: 'expired', actor: 'store'})
      setQuiet(turn, firstDue.get() ?? Number.POSITIVE_INFINITY)
    },

    isSwept: (now) => now < quietUntil,
  }
}
