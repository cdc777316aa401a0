import type {TaskContext} from '../tasks/index.js'

/** Days for which an acknowledged message is kept where nobody says otherwise. */
const retentionDays = 7
/** Messages that are deleted in one go. */
const pruneSize = 1000
const dayMs = 86_400_000

export const pruneSql = `DELETE FROM a2a_messages WHERE id IN (
  SELECT id FROM a2a_messages WHERE repository_id = ? AND acknowledged_at_ms < ? ORDER BY acknowledged_at_ms LIMIT ?)`

/**
 * Deletes messages that were acknowledged more than so many days ago, the oldest first and only some at a time; gives
 * how many. Their keys are free again.
 */
export const pruneMessages = ({store, repositoryId, now}: TaskContext, days = retentionDays): number =>
  store.run(pruneSql, [repositoryId, now() - days * dayMs, pruneSize]).changes
