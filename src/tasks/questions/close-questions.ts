import type {TaskListener, TaskStatus, WorkspaceContext} from '../../workspace/index.js'
import {pendingRows, type Question, type QuestionFilter, toQuestion} from './question-rows.js'
import {releaseTask} from './release-task.js'

/** How a question session ended: its questions were answered, or they no longer need an answer. */
export type SessionEnd = 'resolved' | 'closed'

export function endSession({store, now}: Pick<WorkspaceContext, 'store' | 'now'>, id: number, end: SessionEnd): void {
  store.run('UPDATE question_sessions SET ended_at_ms = ?, resolution_status = ? WHERE id = ?', [now(), end, id])
}

/**
 * Ends question sessions. Their unanswered questions leave the inbox, and no task waits for them any longer.
 * @returns the questions that had no answer
 */
export function closeQuestions(
  context: WorkspaceContext,
  {sessionId, taskId}: Pick<QuestionFilter, 'sessionId' | 'taskId'>,
): Question[] {
  const {store, repositoryId} = context
  return store.transaction(() => {
    const sessions = store.all<{id: number}>(
      `SELECT id FROM question_sessions WHERE repository_id = @repository AND ended_at_ms IS NULL
  AND (@session IS NULL OR session_id = @session) AND (@task IS NULL OR task_id = @task)`,
      {
        repository: repositoryId,
        session: sessionId?.trim() ?? null,
        task: taskId === undefined ? null : String(taskId),
      },
    )
    if (sessions.length === 0) return []
    const pending = pendingRows(context, {sessionId, taskId})
    for (const {id} of sessions) endSession(context, id, 'closed')
    for (const row of pending) releaseTask(context, row)
    return pending.map((row) => toQuestion(context, row))
  })
}

/** States in which a task needs no answer. */
export const finals: ReadonlySet<TaskStatus> = new Set<TaskStatus>(['Completed', 'Failed', 'Cancelled'])
const dayMs = 86_400_000
/** Maximum number of question sessions deleted per cleanup. */
const pruneSize = 1000

/** Closes the questions of a task that ends, and deletes old question sessions. */
export const questionListener: TaskListener = {
  taskMoved(context, {taskId, status}) {
    if (finals.has(status)) closeQuestions(context, {taskId})
  },
  cleanup({store, repositoryId, now}, {retentionDays}) {
    store.run(
      `DELETE FROM question_sessions WHERE id IN (SELECT id FROM question_sessions
  WHERE repository_id = ? AND ended_at_ms < ? ORDER BY id LIMIT ?)`,
      [repositoryId, now() - retentionDays * dayMs, pruneSize],
    )
  },
}
