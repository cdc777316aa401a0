import type {TaskContext} from '../../tasks/index.js'

/** Operations that are deleted in one go. */
const pruneSize = 1000
const dayMs = 86_400_000

export const pruneSql = `DELETE FROM agent_oplog WHERE id IN (
  SELECT id FROM agent_oplog WHERE repository_id = ? AND timestamp_ms < ? ORDER BY timestamp_ms LIMIT ?)`

/**
 * Deletes operations that are older than so many days, the oldest first and only some at a time; gives how many. They
 * cannot be undone any more.
 */
export const pruneOperations = ({store, repositoryId, now}: TaskContext, days: number): number =>
  store.run(pruneSql, [repositoryId, now() - days * dayMs, pruneSize]).changes
