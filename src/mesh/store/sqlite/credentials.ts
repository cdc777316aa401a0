import type {Database} from 'better-sqlite3'
import {SvcError} from '../../../errors/index.js'
import type {Scope} from '../mesh-store.js'
import type {Audit} from './audit.js'
import type {Turn} from './group-commit.js'

export interface Credentials {
  useTokenId(turn: Turn, id: string, keepUntilMs: number): boolean
  useBootstrap(turn: Turn, scope: Scope, digest: string, use: {expiresMs: number; by: string}): void
  /** Removes ids of tokens that nobody could use any more. @returns how many */
  forgetTokenIds(turn: Turn, most: number): number
}

/** Most ids of tokens that are kept. */
const mostTokenIds = 50_000
/** Ids that are removed to make room for one. */
const mostForgotten = 500

export function openCredentials(database: Database, audit: Audit): Credentials {
  const find = database.prepare<[string]>('SELECT 1 FROM mesh_jti WHERE jti = ?')
  const insert = database.prepare<[string, number]>('INSERT INTO mesh_jti (jti, exp) VALUES (?, ?)')
  const forget = database.prepare<[number, number]>(
    'DELETE FROM mesh_jti WHERE jti IN (SELECT jti FROM mesh_jti WHERE exp <= ? ORDER BY exp LIMIT ?)',
  )
  const useUp = database.prepare<[string, string, number, number, string]>(
    `INSERT INTO mesh_bootstrap (token_sha256, scope_id, expires_at, used_at, used_by) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (token_sha256) DO NOTHING`,
  )
  let kept = database.prepare<[], number>('SELECT count(*) FROM mesh_jti').pluck().get() ?? 0

  function count(turn: Turn, change: number): void {
    kept += change
    turn.undo(() => {
      kept -= change
    })
  }

  function forgetTokenIds(turn: Turn, most: number): number {
    const {changes} = forget.run(turn.now, most)
    count(turn, -changes)
    return changes
  }

  return {
    forgetTokenIds,

    useTokenId(turn, id, keepUntilMs) {
      if (find.get(id) !== undefined) return false
      if (kept >= mostTokenIds) forgetTokenIds(turn, mostForgotten)
      // None that could still be used is dropped for a new one: it could be used again then.
      if (kept >= mostTokenIds)
        throw new SvcError('overloaded', {reason: 'Too many tokens are in use to tell a new one.'})
      insert.run(id, keepUntilMs)
      count(turn, 1)
      return true
    },

    useBootstrap(turn, scope, digest, {expiresMs, by}) {
      if (useUp.run(digest, scope, expiresMs, turn.now, by).changes === 0) throw new SvcError('bootstrap_consumed', {})
      audit.write(turn, {
        scope,
        actor: by,
        action: 'bootstrap.used',
        target: digest.slice(0, 16),
        detail: {expires_unix_ms: expiresMs},
      })
    },
  }
}
