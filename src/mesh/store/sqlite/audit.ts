import type {Database} from 'better-sqlite3'
import type {AuditEntry} from '../../protocol/audit.js'
import type {PageQuery} from '../../protocol/page-query.js'
import type {Page, Scope} from '../mesh-store.js'
import {pageOf} from '../message-rows.js'
import type {Transaction} from './transaction.js'

export interface NewEntry extends Omit<AuditEntry, 'id' | 'at_unix_ms'> {
  scope: Scope
}

const prepare = (database: Database) => ({
  insert: database.prepare<[number, string, string, string, string, string]>(
    'INSERT INTO mesh_audit (at, scope_id, actor, action, target, detail) VALUES (?, ?, ?, ?, ?, ?)',
  ),
  update: database.prepare<[number, string, number]>('UPDATE mesh_audit SET at = ?, detail = ? WHERE id = ?'),
  page: database.prepare<[string, number, number], Omit<AuditEntry, 'detail'> & {detail: string}>(
    `SELECT id, at AS at_unix_ms, actor, action, target, detail FROM mesh_audit WHERE scope_id = ? AND id < ?
ORDER BY id DESC LIMIT ?`,
  ),
})

export class Audit {
  readonly #sql: ReturnType<typeof prepare>

  constructor(database: Database) {
    this.#sql = prepare(database)
  }

  /** @returns the number of the row */
  write({now}: Transaction, {scope, actor, action, target, detail}: NewEntry): number {
    return Number(this.#sql.insert.run(now, scope, actor, action, target, JSON.stringify(detail)).lastInsertRowid)
  }

  /** Updates the time and detail of an entry. */
  rewrite({now}: Transaction, id: number, detail: AuditEntry['detail']): void {
    this.#sql.update.run(now, JSON.stringify(detail), id)
  }

  list(scope: Scope, {limit, before = Number.MAX_SAFE_INTEGER}: PageQuery): Page<AuditEntry> {
    // One more row shows whether there is a next page.
    const found = this.#sql.page.all(scope, before, limit + 1)
    const rows = found.slice(0, limit).map(({detail, ...row}): AuditEntry => ({...row, detail: JSON.parse(detail)}))
    return pageOf(rows, found.length > limit)
  }
}
