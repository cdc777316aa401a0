import type {WorkspaceContext} from '../../workspace/index.js'

/** Maximum number of operations per delete. */
const pruneSize = 1000
const dayMs = 86_400_000

export const pruneSql = `DELETE FROM agent_oplog WHERE id IN (
  SELECT id FROM agent_oplog WHERE repository_id = ? AND timestamp_ms < ? ORDER BY timestamp_ms LIMIT ?)`

/**
 * Deletes operations older than `days` days, oldest first, a limited number per call. Returns the number deleted. They
 * can no longer be undone.
 */
export const pruneOperations = ({store, repositoryId, now}: WorkspaceContext, days: number): number =>
  store.run(pruneSql, [repositoryId, now() - days * dayMs, pruneSize]).changes
