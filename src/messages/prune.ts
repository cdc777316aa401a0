import type {WorkspaceContext} from '../workspace/index.js'

/** Default retention of acknowledged messages, days. */
const retentionDays = 7
/** Maximum number of messages per delete. */
const pruneSize = 1000
const dayMs = 86_400_000

export const pruneSql = `DELETE FROM a2a_messages WHERE id IN (
  SELECT id FROM a2a_messages WHERE repository_id = ? AND acknowledged_at_ms < ? ORDER BY acknowledged_at_ms LIMIT ?)`

/**
 * Deletes messages that were acknowledged more than `days` days ago, oldest first, a limited number per call. Returns
 * the number deleted. Their keys become free.
 */
export const pruneMessages = ({store, repositoryId, now}: WorkspaceContext, days = retentionDays): number =>
  store.run(pruneSql, [repositoryId, now() - days * dayMs, pruneSize]).changes
