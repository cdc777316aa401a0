import type {Database} from 'better-sqlite3'
import {SvcError} from '../../../errors/index.js'
import type {Scope} from '../mesh-store.js'
import type {Audit} from './audit.js'
import {type Transaction, TransactionalValue} from './transaction.js'

const mostTokenIds = 50_000
/** Ids that are removed to make room for one. */
const mostForgotten = 500

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

/** Tokens that work once, and were used. */
export class UsedTokens {
  readonly #sql: ReturnType<typeof prepare>
  readonly #audit: Audit
  /** Ids that are kept. */
  readonly #kept: TransactionalValue<number>

  constructor(database: Database, audit: Audit) {
    this.#sql = prepare(database)
    this.#audit = audit
    this.#kept = new TransactionalValue(this.#sql.count.get() ?? 0)
  }

  useTokenId(transaction: Transaction, id: string, keepUntilMs: number): boolean {
    if (this.#sql.find.get(id) !== undefined) return false
    if (this.#kept.value >= mostTokenIds) this.forgetTokenIds(transaction, mostForgotten)
    // None that could still be used is dropped for a new one: it could be used again then.
    if (this.#kept.value >= mostTokenIds)
      throw new SvcError('overloaded', {reason: 'Too many tokens are in use to tell a new one.'})
    this.#sql.insert.run(id, keepUntilMs)
    this.#kept.set(transaction, this.#kept.value + 1)
    return true
  }

  /** Removes ids of tokens that nobody could use any more. @returns how many */
  forgetTokenIds(transaction: Transaction, most: number): number {
    const {changes} = this.#sql.forget.run(transaction.now, most)
    this.#kept.set(transaction, this.#kept.value - changes)
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
