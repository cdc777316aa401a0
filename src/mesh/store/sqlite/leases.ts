import type {Database} from 'better-sqlite3'
import {SvcError} from '../../../errors/index.js'
import {type ExecLease, type LeaseVerification, maxLeasesListed} from '../../protocol/lease.js'
import type {ClaimedLease, Scope} from '../mesh-store.js'
import type {Audit} from './audit.js'
import type {Counters} from './counters.js'
import {NextExpiry} from './next-expiry.js'
import type {Nodes} from './nodes.js'
import type {Transaction} from './transaction.js'

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

/** Maximum number of leases marked as expired per transaction. */
const sweepLimit = 1000

const prepare = (database: Database) => ({
  byKey: database.prepare<[string, string], LeaseRow>(
    'SELECT * FROM mesh_exec_leases WHERE scope_id = ? AND scope_key = ?',
  ),
  byId: database.prepare<[number, string], LeaseRow>(
    'SELECT * FROM mesh_exec_leases WHERE lease_id = ? AND scope_id = ?',
  ),
  byHolder: database.prepare<[string, string], LeaseRow>(
    "SELECT * FROM mesh_exec_leases WHERE scope_id = ? AND holder = ? AND state = 'granted'",
  ),
  held: database.prepare<[string, number, number], LeaseRow>(
    "SELECT * FROM mesh_exec_leases WHERE scope_id = ? AND state = 'granted' AND expires_at > ? ORDER BY holder, lease_id LIMIT ?",
  ),
  count: database
    .prepare<[string], number>("SELECT count(*) FROM mesh_exec_leases WHERE scope_id = ? AND state = 'granted'")
    .pluck(),
  due: database.prepare<[number, number], LeaseRow>(
    "SELECT * FROM mesh_exec_leases WHERE state = 'granted' AND expires_at <= ? ORDER BY expires_at LIMIT ?",
  ),
  // The lease number must be drawn in the transaction that found the key free, so that tokens never decrease.
  beginEpoch: database.prepare(
    `INSERT INTO mesh_exec_leases (scope_id, scope_key, lease_id, holder, granted_at, expires_at, state, audit_id)
VALUES (?, ?, ?, ?, ?, ?, 'granted', ?)
ON CONFLICT (scope_id, scope_key) DO UPDATE SET lease_id = excluded.lease_id, holder = excluded.holder,
  granted_at = excluded.granted_at, expires_at = excluded.expires_at, renewals = 0, state = 'granted', ended_at = NULL,
  audit_id = excluded.audit_id
WHERE mesh_exec_leases.state <> 'granted'`,
  ),
  extend: database.prepare<[number, number]>(
    "UPDATE mesh_exec_leases SET expires_at = ?, renewals = renewals + 1 WHERE lease_id = ? AND state = 'granted'",
  ),
  end: database.prepare<[string, number, number]>(
    "UPDATE mesh_exec_leases SET state = ?, ended_at = ? WHERE lease_id = ? AND state = 'granted'",
  ),
})

interface LeaseParts {
  nodes: Nodes
  audit: Audit
  counters: Counters
  leaseMs: number
}

export class Leases {
  readonly #sql: ReturnType<typeof prepare>
  readonly #parts: LeaseParts
  readonly #nextExpiry: NextExpiry

  constructor(database: Database, parts: LeaseParts) {
    this.#sql = prepare(database)
    this.#parts = parts
    this.#nextExpiry = new NextExpiry(database, "SELECT min(expires_at) FROM mesh_exec_leases WHERE state = 'granted'")
  }

  grant(transaction: Transaction, scope: Scope, {scopeKey, claimer}: {scopeKey: string; claimer: string}): ExecLease {
    this.#parts.nodes.requireAvailable(transaction, scope, claimer)
    const row = this.#live(transaction, this.#sql.byKey.get(scope, scopeKey))
    if (row !== undefined && row.holder !== claimer) throw new SvcError('lease_held', {scopeKey})
    return toLease(
      row === undefined ? this.#beginEpoch(transaction, scope, scopeKey, claimer) : this.#extend(transaction, row),
    )
  }

  renew(transaction: Transaction, scope: Scope, held: ClaimedLease): void {
    this.#parts.nodes.requireNotQuarantined(scope, held.claimer)
    this.#extend(transaction, this.#own(transaction, scope, held))
  }

  release(transaction: Transaction, scope: Scope, held: ClaimedLease): void {
    this.#parts.nodes.requireKnown(scope, held.claimer)
    this.#end(transaction, this.#own(transaction, scope, held), 'released', held.claimer)
  }

  verify(
    transaction: Transaction,
    scope: Scope,
    {lease, scopeKey}: {lease: string; scopeKey: string},
  ): LeaseVerification {
    const row = this.#find(transaction, scope, lease, scopeKey)
    return {
      valid: true,
      holder_node_id: row.holder,
      expires_unix_ms: row.expires_at,
      server_time_unix_ms: transaction.now,
    }
  }

  list({now}: Transaction, scope: Scope): ExecLease[] {
    return this.#sql.held.all(scope, now, maxLeasesListed).map(toLease)
  }

  /** Number of held leases; correct only if all expired leases are marked. */
  count(scope: Scope): number {
    return this.#sql.count.get(scope) ?? 0
  }

  revoke(transaction: Transaction, scope: Scope, lease: string, actor: string): void {
    this.#end(transaction, this.#find(transaction, scope, lease), 'revoked', actor)
  }

  /** Releases all leases of a node. */
  releaseOf(transaction: Transaction, scope: Scope, holder: string): void {
    for (const row of this.#sql.byHolder.all(scope, holder)) {
      const held = this.#live(transaction, row)
      if (held !== undefined) this.#end(transaction, held, 'released', holder)
    }
  }

  /** Marks a bounded number of expired leases. */
  sweep(transaction: Transaction): void {
    if (this.isSwept(transaction.now)) return
    for (const row of this.#sql.due.all(transaction.now, sweepLimit)) this.#end(transaction, row, 'expired', 'store')
    this.#nextExpiry.reload(transaction)
  }

  /** True if all expired leases are marked. */
  isSwept(now: number): boolean {
    return !this.#nextExpiry.isDue(now)
  }

  #beginEpoch(transaction: Transaction, scope: Scope, scopeKey: string, claimer: string): LeaseRow {
    const {audit, counters, leaseMs} = this.#parts
    const epoch = {
      scope_key: scopeKey,
      lease_id: counters.next(transaction, 'fence'),
      holder: claimer,
      granted_at: transaction.now,
      expires_at: transaction.now + leaseMs,
      renewals: 0,
    }
    const detail = detailOf(epoch)
    const auditId = audit.write(transaction, {scope, actor: claimer, action: 'lease.granted', target: scopeKey, detail})
    this.#sql.beginEpoch.run(scope, scopeKey, epoch.lease_id, claimer, epoch.granted_at, epoch.expires_at, auditId)
    this.#nextExpiry.add(transaction, epoch.expires_at)
    return {...epoch, scope_id: scope, state: 'granted', audit_id: auditId}
  }

  #extend(transaction: Transaction, row: LeaseRow): LeaseRow {
    const {audit, leaseMs} = this.#parts
    const renewed = {...row, expires_at: transaction.now + leaseMs, renewals: row.renewals + 1}
    this.#sql.extend.run(renewed.expires_at, row.lease_id)
    audit.rewrite(transaction, row.audit_id, detailOf(renewed))
    return renewed
  }

  #end(transaction: Transaction, row: LeaseRow, state: Exclude<LeaseRow['state'], 'granted'>, actor: string): void {
    const {scope_id: scope, scope_key, lease_id, holder, expires_at} = row
    const endedAt = state === 'expired' ? expires_at : transaction.now
    this.#sql.end.run(state, endedAt, lease_id)
    const detail = {lease_id: String(lease_id), scope_key, holder_node_id: holder, ended_unix_ms: endedAt}
    this.#parts.audit.write(transaction, {scope, actor, action: `lease.${state}`, target: scope_key, detail})
  }

  /** Returns the lease if it is active. Marks an expired one, so that it cannot become active again. */
  #live(transaction: Transaction, row: LeaseRow | undefined): LeaseRow | undefined {
    if (row?.state !== 'granted') return undefined
    if (row.expires_at > transaction.now) return row
    this.#end(transaction, row, 'expired', 'store')
    return undefined
  }

  /** @throws lease_not_found */
  #find(transaction: Transaction, scope: Scope, lease: string, scopeKey?: string): LeaseRow {
    const isId = /^[1-9]\d{0,14}$/.test(lease)
    const row = isId ? this.#live(transaction, this.#sql.byId.get(Number(lease), scope)) : undefined
    if (row === undefined || row.scope_key !== (scopeKey ?? row.scope_key))
      throw new SvcError('lease_not_found', {lease, scopeKey})
    return row
  }

  /** @throws lease_not_found, not_lease_holder */
  #own(transaction: Transaction, scope: Scope, {lease, claimer}: ClaimedLease): LeaseRow {
    const row = this.#find(transaction, scope, lease)
    if (row.holder !== claimer) throw new SvcError('not_lease_holder', {what: `lease ${lease}`})
    return row
  }
}

const toLease = (row: LeaseRow): ExecLease => ({
  lease_id: String(row.lease_id),
  fence_token: row.lease_id,
  scope_key: row.scope_key,
  holder_node_id: row.holder,
  expires_unix_ms: row.expires_at,
})

const detailOf = (row: Omit<LeaseRow, 'scope_id' | 'state' | 'audit_id'>) => ({
  lease_id: String(row.lease_id),
  scope_key: row.scope_key,
  holder_node_id: row.holder,
  granted_unix_ms: row.granted_at,
  expires_unix_ms: row.expires_at,
  renewals: row.renewals,
})
