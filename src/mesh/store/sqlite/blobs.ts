import type {Database} from 'better-sqlite3'
import {SvcError} from '../../../errors/index.js'
import {blobTtlMs, maxScopeBlobBytes} from '../../protocol/remote-task.js'
import type {Scope} from '../mesh-store.js'
import {blobsAtOnce, minCountedBytes} from '../retention.js'
import type {Transaction} from './transaction.js'

const prepare = (database: Database) => ({
  sizes: database.prepare<[], {scope_id: string; size: number}>(
    `SELECT scope_id, sum(max(size, ${minCountedBytes})) AS size FROM mesh_blobs GROUP BY scope_id`,
  ),
  extend: database.prepare<[number, string, string]>(
    'UPDATE mesh_blobs SET expires_at = ? WHERE scope_id = ? AND sha256 = ?',
  ),
  insert: database.prepare<[string, string, number, number, Uint8Array]>(
    'INSERT INTO mesh_blobs (scope_id, sha256, size, expires_at, bytes) VALUES (?, ?, ?, ?, ?)',
  ),
  read: database
    .prepare<[string, string, number], Buffer>(
      'SELECT bytes FROM mesh_blobs WHERE scope_id = ? AND sha256 = ? AND expires_at > ?',
    )
    .pluck(),
  removeExpired: database.prepare<[number, number], {scope_id: string; size: number}>(
    `DELETE FROM mesh_blobs WHERE id IN (SELECT id FROM mesh_blobs WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)
RETURNING scope_id, size`,
  ),
})

/** Files of delegated tasks by their SHA-256. */
export class Blobs {
  readonly #sql: ReturnType<typeof prepare>
  readonly #limit: number
  /** Total size of the files of each scope, bytes. */
  readonly #sizes: Map<Scope, number>

  constructor(database: Database, limit = maxScopeBlobBytes) {
    this.#sql = prepare(database)
    this.#limit = limit
    this.#sizes = new Map(this.#sql.sizes.all().map(({scope_id, size}) => [scope_id, size]))
  }

  put(transaction: Transaction, scope: Scope, {sha256, bytes}: {sha256: string; bytes: Uint8Array}): void {
    const expires = transaction.now + blobTtlMs
    if (this.#sql.extend.run(expires, scope, sha256).changes > 0) return
    if (!this.#hasRoom(scope, bytes.length)) this.removeExpired(transaction, blobsAtOnce)
    if (!this.#hasRoom(scope, bytes.length)) throw new SvcError('blobs_full', {limit: this.#limit})
    this.#sql.insert.run(scope, sha256, bytes.length, expires, bytes)
    this.#add(transaction, scope, countedBytes(bytes.length))
  }

  get(scope: Scope, sha256: string, now: number): Buffer {
    const bytes = this.#sql.read.get(scope, sha256, now)
    if (bytes === undefined) throw new SvcError('blob_not_found', {sha256})
    return bytes
  }

  /** Deletes files whose time is over. @returns number of deleted files */
  removeExpired(transaction: Transaction, limit: number): number {
    const removed = this.#sql.removeExpired.all(transaction.now, limit)
    for (const {scope_id, size} of removed) this.#add(transaction, scope_id, -countedBytes(size))
    return removed.length
  }

  #hasRoom(scope: Scope, size: number): boolean {
    return (this.#sizes.get(scope) ?? 0) + countedBytes(size) <= this.#limit
  }

  #add(transaction: Transaction, scope: Scope, by: number): void {
    const before = this.#sizes.get(scope) ?? 0
    this.#sizes.set(scope, before + by)
    transaction.undo(() => this.#sizes.set(scope, before))
  }
}

const countedBytes = (size: number) => Math.max(size, minCountedBytes)
