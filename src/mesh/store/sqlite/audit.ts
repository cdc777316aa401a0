import type {Database} from 'better-sqlite3'
import type {Scope} from '../mesh-store.js'
import type {Turn} from './group-commit.js'

/** What is written down for those who look later. */
export interface AuditEntry {
  scope: Scope
  /** A node, an administrator, or `store`. */
  actor: string
  action: string
  /** What it was done to: the key of a lease, a node, a message. */
  target: string
  detail: Readonly<Record<string, unknown>>
}

export interface Audit {
  /** @returns the number of the row */
  write(turn: Turn, entry: AuditEntry): number
  /** Brings the detail of a row up to date. */
  rewrite(turn: Turn, id: number, detail: AuditEntry['detail']): void
}

export function createAudit(database: Database): Audit {
  const insert = database.prepare<[number, string, string, string, string, string]>(
    'INSERT INTO mesh_audit (at, scope_id, actor, action, target, detail) VALUES (?, ?, ?, ?, ?, ?)',
  )
  const update = database.prepare<[number, string, number]>('UPDATE mesh_audit SET at = ?, detail = ? WHERE id = ?')
  return {
    write: ({now}, {scope, actor, action, target, detail}) =>
      Number(insert.run(now, scope, actor, action, target, JSON.stringify(detail)).lastInsertRowid),
    rewrite: ({now}, id, detail) => void update.run(now, JSON.stringify(detail), id),
  }
}
