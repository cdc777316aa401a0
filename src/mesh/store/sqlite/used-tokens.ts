import type {Database} from 'better-sqlite3'
import {SvcError} from '../../../errors/index.js'
import type {Scope} from '../mesh-store.js'
import {maxTokenIds, rowsAtOnce} from '../retention.js'
import type {Audit} from './audit.js'
import {type Transaction, TransactionalValue} from './transaction.js'

const prepare = (database: Database) => ({
  count: database.prepare<[], number>('SELECT count(*) FROM mesh_jti').pluck(),
  find: database.prepare<[string]>('SELECT 1 FROM mesh_jti WHERE jti = ?'),
  insert: database.prepare<[string, number]>('INSERT INTO mesh_jti (jti, exp) VALUES (?, ?)'),
  forget: database.prepare<[number, number]>(
    'DELETE FROM mesh_jti WHERE jti IN (SELECT jti FROM mesh_jti WHERE exp <= ? ORDER BY exp LIMIT ?)',
  ),
  useUp: database.prepare<[string, string, number, number, string]>(
    `INSERT INTO mesh_bootstrap (token_sha256, scope_id, expires_at, used_at, used_by) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (token_sha256) DO NOTHING`,
  ),
})

export class UsedTokens {
  readonly #sql: ReturnType<typeof prepare>
  readonly #audit: Audit
  readonly #count: TransactionalValue<number>

  constructor(database: Database, audit: Audit) {
    this.#sql = prepare(database)
    this.#audit = audit
    this.#count = new TransactionalValue(this.#sql.count.get() ?? 0)
  }

  useTokenId(transaction: Transaction, id: string, keepUntilMs: number): boolean {
    if (this.#sql.find.get(id) !== undefined) return false
    if (this.#count.value >= maxTokenIds) this.forgetTokenIds(transaction, rowsAtOnce)
    // Ids of valid tokens must not be deleted to make room, because the tokens could then be used again.
    if (this.#count.value >= maxTokenIds)
      throw new SvcError('overloaded', {reason: 'The limit of single-use tokens is reached.'})
    this.#sql.insert.run(id, keepUntilMs)
    this.#count.set(transaction, this.#count.value + 1)
    return true
  }

  /** Deletes the ids of expired tokens. @returns number of deleted ids */
  forgetTokenIds(transaction: Transaction, limit: number): number {
    const {changes} = this.#sql.forget.run(transaction.now, limit)
    this.#count.set(transaction, this.#count.value - changes)
    return changes
  }

  useBootstrap(
    transaction: Transaction,
    scope: Scope,
    digest: string,
    {expiresMs, by}: {expiresMs: number; by: string},
  ): void {
    if (this.#sql.useUp.run(digest, scope, expiresMs, transaction.now, by).changes === 0)
      throw new SvcError('bootstrap_consumed', {})
    this.#audit.write(transaction, {
      scope,
      actor: by,
      action: 'bootstrap.used',
      target: digest.slice(0, 16),
      detail: {expires_unix_ms: expiresMs},
    })
  }
}
