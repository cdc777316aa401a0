import {SvcError} from '../../../errors/index.js'
import {type ExecLease, type LeaseVerification, maxLeasesListed, type Promotion} from '../../protocol/lease.js'
import type {ClaimedLease, Scope} from '../mesh-store.js'
import {type Database, statement} from './database.js'

interface LeaseRow {
  refusal: string | null
  lease_id: number
  scope_key: string
  holder: string
  expires_at: number
  now: number
}

const columns = '(r.lease).lease_id, (r.lease).scope_key, (r.lease).holder, (r.lease).expires_at'

const sql = {
  grant: statement(`SELECT refusal, ${columns} FROM mesh_grant($1, $2, $3, $4) r`),
  use: statement(`SELECT refusal, now, ${columns} FROM mesh_use_lease($1, $2, $3, $4, $5, $6, $7) r`),
  expire: statement('SELECT mesh_expire_leases($1) AS marked'),
  list: statement(`SELECT * FROM mesh_exec_leases WHERE scope_id = $1 AND state = 'granted' AND expires_at > (SELECT mesh_now())
ORDER BY holder COLLATE "C", lease_id LIMIT $2`),
  // Without the lock, the slower of two promotions could set the sequence back.
  promote: statement(`WITH one AS MATERIALIZED (SELECT pg_advisory_xact_lock($1)),
  raised AS MATERIALIZED (SELECT setval('mesh_fence', nextval('mesh_fence') + $4) AS fence_token FROM one)
SELECT fence_token, mesh_log($2, $3, 'store.promoted', 'fence', jsonb_build_object('fence_token', fence_token)) FROM raised`),
}

/** Key of the advisory lock of a promotion. */
const promotionLock = 0x7376_6304

/** Maximum number of leases marked as expired per list. */
const sweepLimit = 1000

export class Leases {
  readonly #database: Database
  readonly #leaseMs: number

  constructor(database: Database, leaseMs: number) {
    this.#database = database
    this.#leaseMs = leaseMs
  }

  async grant(scope: Scope, {scopeKey, claimer}: {scopeKey: string; claimer: string}): Promise<ExecLease> {
    const row = await this.#database.one<LeaseRow>(sql.grant, [scope, scopeKey, claimer, this.#leaseMs])
    if (row.refusal === 'lease_held') throw new SvcError('lease_held', {scopeKey})
    requireNode(row.refusal, claimer)
    return toLease(row)
  }

  async renew(scope: Scope, {lease, claimer}: ClaimedLease): Promise<void> {
    await this.#use('renew', scope, {lease, claimer})
  }

  async release(scope: Scope, {lease, claimer}: ClaimedLease): Promise<void> {
    await this.#use('release', scope, {lease, claimer, actor: claimer})
  }

  async revoke(scope: Scope, lease: string, actor: string): Promise<void> {
    await this.#use('revoke', scope, {lease, actor})
  }

  async verify(scope: Scope, {lease, scopeKey}: {lease: string; scopeKey: string}): Promise<LeaseVerification> {
    const {holder, expires_at, now} = await this.#use('verify', scope, {lease, scopeKey})
    return {valid: true, holder_node_id: holder, expires_unix_ms: expires_at, server_time_unix_ms: now}
  }

  async list(scope: Scope): Promise<ExecLease[]> {
    await this.expire(sweepLimit)
    return (await this.#database.query<LeaseRow>(sql.list, [scope, maxLeasesListed])).map(toLease)
  }

  async promote(scope: Scope, skip: number, actor: string): Promise<Promotion> {
    const {fence_token} = await this.#database.one<Promotion>(sql.promote, [promotionLock, scope, actor, skip])
    return {fence_token}
  }

  /** Marks expired leases. @returns number of marked leases */
  async expire(limit: number): Promise<number> {
    const {marked} = await this.#database.one<{marked: number}>(sql.expire, [limit])
    return marked
  }

  /** @throws unknown_node, node_quarantined, lease_not_found, not_lease_holder */
  async #use(
    action: 'renew' | 'release' | 'revoke' | 'verify',
    scope: Scope,
    {lease, scopeKey, claimer, actor}: {lease: string; scopeKey?: string; claimer?: string; actor?: string},
  ): Promise<LeaseRow> {
    const id = /^[1-9]\d{0,14}$/.test(lease) ? Number(lease) : 0
    const row = await this.#database.one<LeaseRow>(sql.use, [
      action,
      scope,
      id,
      scopeKey,
      claimer,
      actor,
      this.#leaseMs,
    ])
    if (row.refusal === 'lease_not_found') throw new SvcError('lease_not_found', {lease, scopeKey})
    if (row.refusal === 'not_lease_holder') throw new SvcError('not_lease_holder', {what: `lease ${lease}`})
    requireNode(row.refusal, claimer)
    return row
  }
}

/** Throws the refusal of a node. @throws unknown_node, node_quarantined, node_maintenance */
export function requireNode(refusal: string | null, node = ''): void {
  if (refusal === 'unknown_node' || refusal === 'node_quarantined' || refusal === 'node_maintenance')
    throw new SvcError(refusal, {node})
}

const toLease = (row: LeaseRow): ExecLease => ({
  lease_id: String(row.lease_id),
  fence_token: row.lease_id,
  scope_key: row.scope_key,
  holder_node_id: row.holder,
  expires_unix_ms: row.expires_at,
})
