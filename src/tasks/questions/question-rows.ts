import {type OrchQuestionsV1, withoutNulls} from '../../contracts/index.js'
import {SvcError} from '../../errors/index.js'
import type {WorkspaceContext} from '../../workspace/index.js'
import {matchQuestionId} from '../base/ids.js'
import type {QuestionKind} from './choose-question.js'

/** A question in the inbox. Times are Unix milliseconds. */
export type Question = OrchQuestionsV1['questions'][number]
/** An answer to choose, or an indication that any text is accepted. */
export type QuestionOption = Question['options'][number]

/** A row of `question_events` with its session. */
export interface QuestionRow {
  id: number
  question_session_id: number
  question_id: string
  session_id: string
  task_id: string | null
  ended_at_ms: number | null
  turn_index: number
  question_kind: QuestionKind
  prompt: string
  expected_information_gain_bits: number
  expected_user_cost: number
  utility_bits_per_cost: number
  answer_text: string | null
  answered_at_ms: number | null
  created_at_ms: number
}

const select = `SELECT e.*, s.session_id, s.task_id, s.ended_at_ms
FROM question_sessions s JOIN question_events e ON e.question_session_id = s.id WHERE s.repository_id = @repository`
const isPending = 'e.answered_at_ms IS NULL AND s.ended_at_ms IS NULL'

export interface QuestionFilter {
  sessionId?: string | undefined
  taskId?: number | undefined
  /** Also answered questions. */
  answered?: boolean | undefined
  /** Maximum number of questions. */
  limit?: number | undefined
  /** Only questions after this one: Q-0007. */
  after?: string | undefined
}

/** Questions that need an answer, oldest first. @throws question_not_found */
export const pendingQuestions = (context: WorkspaceContext, filter: QuestionFilter = {}): Question[] =>
  pendingRows(context, filter).map((row) => toQuestion(context, row))

export const pendingRows = (
  context: WorkspaceContext,
  {sessionId, taskId, answered = false, limit = 1000, after}: QuestionFilter,
): QuestionRow[] =>
  context.store.all<QuestionRow>(
    `${select} AND (${isPending} OR @answered AND e.answered_at_ms IS NOT NULL)
  AND (@session IS NULL OR s.session_id = @session) AND (@task IS NULL OR s.task_id = @task)
  AND e.id > @after ORDER BY e.id LIMIT @limit`,
    {
      repository: context.repositoryId,
      session: sessionId?.trim() ?? null,
      task: taskId === undefined ? null : String(taskId),
      answered: answered ? 1 : 0,
      after: after === undefined ? 0 : requireQuestion(context, after).id,
      limit,
    },
  )

/** Id of the oldest unanswered question of a session. Every submission asks for it, so the query uses only indexes. */
export const firstPending = ({store, repositoryId}: WorkspaceContext, sessionId: string): string | undefined =>
  store.get<{question_id: string}>(
    `SELECT e.question_id FROM question_sessions s JOIN question_events e ON e.question_session_id = s.id
WHERE s.repository_id = ? AND s.session_id = ? AND ${isPending} ORDER BY e.id LIMIT 1`,
    [repositoryId, sessionId],
  )?.question_id

/** Number of questions that need an answer. */
export const countPending = ({store, repositoryId}: WorkspaceContext): number =>
  store.get<{n: number}>(
    `SELECT count(*) AS n FROM question_sessions s JOIN question_events e ON e.question_session_id = s.id
WHERE s.repository_id = ? AND ${isPending}`,
    [repositoryId],
  )?.n ?? 0

/** The number of questions in the open question session of a session and task. */
export const questionTurns = ({store, repositoryId}: WorkspaceContext, sessionId: string, taskId?: number): number =>
  store.get<{turns: number}>(
    `SELECT count(*) AS turns FROM question_events e JOIN question_sessions s ON s.id = e.question_session_id
WHERE s.repository_id = ? AND s.session_id = ? AND s.task_id IS ? AND s.ended_at_ms IS NULL`,
    [repositoryId, sessionId.trim(), taskId === undefined ? null : String(taskId)],
  )?.turns ?? 0

/** @throws question_not_found */
export function requireQuestion({store, repositoryId: repository}: WorkspaceContext, question: string): QuestionRow {
  const id = matchQuestionId(question)
  const row = id === undefined ? undefined : store.get<QuestionRow>(`${select} AND e.id = @id`, {repository, id})
  if (row === undefined) throw new SvcError('question_not_found', {question: JSON.stringify(question)})
  return row
}

export function toQuestion(context: Pick<WorkspaceContext, 'store'>, row: QuestionRow): Question {
  const {
    id: _,
    question_session_id: __,
    ended_at_ms: ___,
    task_id,
    answer_text,
    actor,
    answer_type,
    ...columns
  } = row as QuestionRow & {actor: string; answer_type: string | null}
  return {
    ...(withoutNulls({...columns, answer: answer_text, task_id: task_id === null ? null : Number(task_id)}) as Omit<
      Question,
      'options'
    >),
    options: optionsOf(context, row.id),
  }
}

const optionsOf = ({store}: Pick<WorkspaceContext, 'store'>, id: number): QuestionOption[] =>
  store
    .all<{option_id: string; label: string; is_other: number}>(
      'SELECT option_id, label, is_other FROM question_options WHERE question_event_id = ? ORDER BY id',
      [id],
    )
    .map((option) => ({...option, is_other: option.is_other === 1}))
