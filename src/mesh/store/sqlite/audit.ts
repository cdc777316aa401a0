import type {Database} from 'better-sqlite3'
import type {AuditEntry} from '../../protocol/audit.js'
import type {PageQuery} from '../../protocol/read/page-query.js'
import type {Page, Scope} from '../mesh-store.js'
import type {Turn} from './group-commit.js'

/** An entry of a scope that is to be written. */
export interface NewEntry extends Omit<AuditEntry, 'id' | 'at_unix_ms'> {
  scope: Scope
}

export interface Audit {
  /** @returns the number of the row */
  write(turn: Turn, entry: NewEntry): number
  /** Brings the detail of a row up to date. */
  rewrite(turn: Turn, id: number, detail: AuditEntry['detail']): void
  list(scope: Scope, query: PageQuery): Page<AuditEntry>
}

export function createAudit(database: Database): Audit {
  const insert = database.prepare<[number, string, string, string, string, string]>(
    'INSERT INTO mesh_audit (at, scope_id, actor, action, target, detail) VALUES (?, ?, ?, ?, ?, ?)',
  )
  const update = database.prepare<[number, string, number]>('UPDATE mesh_audit SET at = ?, detail = ? WHERE id = ?')
  const page = database.prepare<[string, number, number], Omit<AuditEntry, 'detail'> & {detail: string}>(
    `SELECT id, at AS at_unix_ms, actor, action, target, detail FROM mesh_audit WHERE scope_id = ? AND id < ?
ORDER BY id DESC LIMIT ?`,
  )
  return {
    write: ({now}, {scope, actor, action, target, detail}) =>
      Number(insert.run(now, scope, actor, action, target, JSON.stringify(detail)).lastInsertRowid),
    rewrite: ({now}, id, detail) => void update.run(now, JSON.stringify(detail), id),
    list(scope, {limit, before = Number.MAX_SAFE_INTEGER}) {
      // One more shows whether there is a next page.
      const found = page.all(scope, before, limit + 1)
      const rows = found.slice(0, limit).map(({detail, ...row}): AuditEntry => ({...row, detail: JSON.parse(detail)}))
      const last = rows.at(-1)
      return {rows, ...(found.length > limit && last !== undefined ? {next: last.id} : {})}
    },
  }
}
