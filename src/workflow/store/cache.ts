import {createHash} from 'node:crypto'
import {canonicalJson} from '../../lang/index.js'
import type {WorkspaceContext} from '../../workspace/index.js'

/** Identifies a call in the cache: the workflow, and the arguments of the activity. */
export const argumentHash = (workflow: string, args: unknown): string =>
  createHash('sha256')
    .update(canonicalJson([workflow, args]))
    .digest('hex')

export const cachedResult = (
  {store, now}: WorkspaceContext,
  activityId: string,
  hash: string,
): {result_json: string} | undefined =>
  store.get<{result_json: string}>(
    'SELECT result_json FROM activity_result_cache WHERE activity_id = ? AND arg_hash = ? AND dedup_window_until > ?',
    [activityId, hash, now()],
  )

/** Keeps a result for later runs, and deletes expired ones. */
export function cacheResult(
  {store, now}: WorkspaceContext,
  {activityId, hash, json, windowMs}: {activityId: string; hash: string; json: string; windowMs: number},
): void {
  const at = now()
  store.run('DELETE FROM activity_result_cache WHERE dedup_window_until <= ?', [at])
  store.run(
    `INSERT INTO activity_result_cache (activity_id, arg_hash, result_json, produced_at_unix_ms, dedup_window_ms,
  dedup_window_until) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT DO UPDATE SET result_json = excluded.result_json, produced_at_unix_ms = excluded.produced_at_unix_ms,
  dedup_window_ms = excluded.dedup_window_ms, dedup_window_until = excluded.dedup_window_until`,
    [activityId, hash, json, at, windowMs, at + windowMs],
  )
}
