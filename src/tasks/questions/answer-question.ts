import {SvcError} from '../../errors/index.js'
import type {WorkspaceContext} from '../../workspace/index.js'
import {appendEvent} from '../events/event-log.js'
import {requireRow} from '../lifecycle/task-rows.js'
import {chargeQuestion} from './agent-question.js'
import {normalise, questionLimits} from './ask-question.js'
import {
  firstPending,
  pendingRows,
  type Question,
  type QuestionRow,
  requireQuestion,
  toQuestion,
} from './question-rows.js'
import {releaseTask} from './release-task.js'

export interface AnswerRequest {
  /** Default: the oldest unanswered question of the session. */
  question_id?: string
  session_id?: string
  /** The id or label of an option, or a text if the question allows it. */
  answer: string
}

/**
 * Answers a question, once; the same answer again has the same reply. A task that waits for it continues, with the
 * answer in its description. With `attention_enabled`, the attention that this takes is charged.
 * @throws question_not_found, question_answered, question_invalid
 */
export function answerQuestion(context: WorkspaceContext, request: AnswerRequest): Question {
  const {store, now} = context
  return store.transaction(() => {
    const row = questionFor(context, request)
    if (row.answered_at_ms !== null) return repeatedAnswer(toQuestion(context, row), request.answer)
    if (row.ended_at_ms !== null) throw new SvcError('question_not_found', {question: row.question_id})
    const {stored, type, shown} = readAnswer(toQuestion(context, row), request.answer)
    store.run('UPDATE question_events SET answer_text = ?, answer_type = ?, answered_at_ms = ? WHERE id = ?', [
      stored,
      type,
      now(),
      row.id,
    ])
    const task = row.task_id === null ? undefined : requireRow(context, Number(row.task_id))
    chargeQuestion(context, row, task)
    appendEvent(context, {
      type: 'question_answered',
      question_id: row.question_id,
      session_id: row.session_id,
      ...(task === undefined ? {} : {task_id: task.id, agent_id: task.agent_id}),
    })
    releaseTask(context, row, `\n\n[ANSWER]\n${row.prompt}\n${shown}`)
    return toQuestion(context, requireQuestion(context, row.question_id))
  })
}

/** @throws question_not_found */
function questionFor(context: WorkspaceContext, {question_id: question, session_id}: AnswerRequest): QuestionRow {
  const session = session_id?.trim()
  const row =
    question === undefined
      ? pendingRows(context, {sessionId: session ?? '', limit: 1})[0]
      : requireQuestion(context, question)
  if (row !== undefined && (session === undefined || row.session_id === session)) return row
  throw new SvcError('question_not_found', {question: question ?? `of the session ${JSON.stringify(session ?? '')}`})
}

/** @throws question_answered */
function repeatedAnswer(question: Question, text: string): Question {
  const {question_id, answer = '', options} = question
  const chosen = chosenOption(options, text)
  if ((chosen?.option_id ?? text.trim()) === answer) return question
  const label = options.find(({option_id}) => option_id === answer)?.label
  throw new SvcError('question_answered', {question: question_id, answer: label ?? answer})
}

interface Answer {
  stored: string
  type: 'option' | 'text'
  /** For the description of the task. */
  shown: string
}

/** @throws question_invalid */
function readAnswer({question_id, options}: Question, text: string): Answer {
  const answer = text.trim()
  const refuse = (fault: string): never => {
    throw new SvcError('question_invalid', {place: `The answer to ${question_id}`, fault})
  }
  if (answer === '') refuse('it is blank')
  if (answer.length > questionLimits.answer) refuse(`it is longer than ${questionLimits.answer} characters`)
  const chosen = chosenOption(options, answer)
  if (chosen !== undefined) return {stored: chosen.option_id, type: 'option', shown: chosen.label}
  if (options.length > 0 && !options.some(({is_other}) => is_other))
    refuse(`it must be one of: ${options.map(({option_id}) => option_id).join(', ')}`)
  return {stored: answer, type: 'text', shown: answer}
}

const chosenOption = (options: Question['options'], answer: string) =>
  options.find(({option_id, label}) => [option_id, label].some((each) => normalise(each) === normalise(answer)))

/**
 * Rejects a submission of a session with an unanswered question.
 * @throws question_pending
 */
export function requireNoQuestion(context: WorkspaceContext, sessionId: string | undefined): void {
  const session = sessionId?.trim()
  if (!session || context.config.submitTaskBypassQuestioningGate) return
  const question = firstPending(context, session)
  if (question !== undefined)
    throw new SvcError('question_pending', {subject: `The session ${JSON.stringify(session)}`, question})
}
