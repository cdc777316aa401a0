import {SvcError} from '../../errors/index.js'
import {questioningPolicy as policy, type WorkspaceContext} from '../../workspace/index.js'
import {clarificationMs} from '../attention/budget.js'
import {displayQuestion, displayTask, questionReason} from '../base/ids.js'
import {appendEvent} from '../events/event-log.js'
import {moveTask} from '../lifecycle/status.js'
import {requireRow, requireStatus, type TaskRow} from '../lifecycle/task-rows.js'
import {releaseLocks} from '../locks.js'
import {type QuestionCandidate, type QuestionKind, questionKinds, stopReason, utilityOf} from './choose-question.js'
import {endSession, finals} from './close-questions.js'
import {pendingRows, type Question, type QuestionOption, requireQuestion, toQuestion} from './question-rows.js'

export type AskedOption = Omit<QuestionOption, 'is_other'> & {is_other?: boolean}

export interface QuestionRequest {
  prompt: string
  /** Default: `multiple_choice` with options, `open_ended` without. */
  question_kind?: QuestionKind
  options?: readonly AskedOption[]
  /** Default: the session of the task. */
  session_id?: string
  task_id?: number
  /** Bits. Without it, the limits of gain and cost do not apply. */
  expected_information_gain_bits?: number
  /** 0 to 1. */
  expected_user_cost?: number
  /** The task waits until the question is answered. */
  blocks?: boolean
}

/** Limits of questions and answers: lengths in characters, and the number of options. */
export const questionLimits = {
  prompt: 2048,
  optionId: 64,
  label: 256,
  options: 16,
  session: 2048,
  answer: 4096,
} as const

const confirmation: readonly AskedOption[] = [
  {option_id: 'yes', label: 'Yes'},
  {option_id: 'no', label: 'No'},
]

/**
 * Stores a question for a person, in the open question session of the session and task, or in a new one. With `blocks`,
 * a queued or running task waits for the answer; its run is aborted.
 * @throws question_invalid, question_refused, task_not_found, invalid_transition
 */
export function askQuestion(context: WorkspaceContext, request: QuestionRequest): Question {
  const {store, now} = context
  return store.transaction(() => {
    const task = request.task_id === undefined ? undefined : requireRow(context, request.task_id)
    const question = readRequest(request, task)
    // When a task ends, its questions are closed, so a later one would stay open for ever.
    if (task !== undefined && finals.has(task.status))
      throw new SvcError('question_invalid', {
        place: 'The question',
        fault: `${displayTask(task.id)} is ${task.status}`,
      })
    if (request.blocks && task !== undefined) requireStatus(task, ['Queued', 'InProgress'], 'BlockedOnApproval')
    const {id: sessionRow, turns} = openSession(context, question.session_id, task)
    const attentionMs = clarificationMs(context)
    const reason = stopReason({confidence: 0, isRiskBlocked: false, attentionMs, turns}, [question.estimate])
    if (reason !== undefined) throw new SvcError('question_refused', {session: question.session_id, reason})
    const {expected_information_gain_bits: gain = 0, expected_user_cost: cost = 0} = request
    const {lastInsertRowid} = store.run(
      `INSERT INTO question_events (question_session_id, question_id, turn_index, question_kind, prompt,
  expected_information_gain_bits, expected_user_cost, utility_bits_per_cost, created_at_ms)
VALUES (?, '', ?, ?, ?, ?, ?, ?, ?)`,
      [
        sessionRow,
        turns,
        question.question_kind,
        question.prompt,
        gain,
        cost,
        utilityOf({expected_information_gain_bits: gain, expected_user_cost: cost}),
        now(),
      ],
    )
    const id = Number(lastInsertRowid)
    const name = displayQuestion(id)
    store.run('UPDATE question_events SET question_id = ? WHERE id = ?', [name, id])
    for (const {option_id, label, is_other = false} of question.options)
      store.run('INSERT INTO question_options (question_event_id, option_id, label, is_other) VALUES (?, ?, ?, ?)', [
        id,
        option_id,
        label,
        is_other ? 1 : 0,
      ])
    appendEvent(context, {
      type: 'question_asked',
      question_id: name,
      question_kind: question.question_kind,
      session_id: question.session_id,
      ...(task === undefined ? {} : {task_id: task.id, agent_id: task.agent_id}),
    })
    if (request.blocks && task !== undefined) holdTask(context, task, name)
    return toQuestion(context, requireQuestion(context, name))
  })
}

/** Like a doubt, this invalidates the claim of a process that still works on the task. */
function holdTask(context: WorkspaceContext, row: TaskRow, question: string): void {
  moveTask(context, row, 'BlockedOnApproval', {
    status_reason: questionReason(question),
    claim_generation: row.claim_generation + 1,
  })
  releaseLocks(context, row.id)
}

interface OpenSession {
  id: number
  /** Number of questions already asked. */
  turns: number
}

/**
 * The open question session, or a new one. A session without unanswered questions ends after the longest time of
 * clarification, so that a long-lived session can ask again.
 */
function openSession(context: WorkspaceContext, sessionId: string, task: TaskRow | undefined): OpenSession {
  const {store, repositoryId, now} = context
  const taskId = task === undefined ? null : String(task.id)
  const open = store.get<OpenSession & {started_at_ms: number}>(
    `SELECT id, started_at_ms, (SELECT count(*) FROM question_events WHERE question_session_id = s.id) AS turns
FROM question_sessions s
WHERE repository_id = ? AND session_id = ? AND task_id IS ? AND ended_at_ms IS NULL ORDER BY id DESC LIMIT 1`,
    [repositoryId, sessionId, taskId],
  )
  const isOver = (started: number) =>
    now() - started >= policy.maxAttentionMs && pendingRows(context, {sessionId, taskId: task?.id}).length === 0
  if (open !== undefined && !isOver(open.started_at_ms)) return open
  if (open !== undefined) endSession(context, open.id, 'resolved')
  const {lastInsertRowid} = store.run(
    'INSERT INTO question_sessions (session_id, repository_id, task_id, started_at_ms) VALUES (?, ?, ?, ?)',
    [sessionId, repositoryId, taskId, now()],
  )
  return {id: Number(lastInsertRowid), turns: 0}
}

/** The session of a question; blank if it has neither a session nor a task. */
export const sessionOfQuestion = ({session_id}: QuestionRequest, task: TaskRow | undefined): string =>
  session_id?.trim() || task?.session_id || (task === undefined ? '' : displayTask(task.id))

/** @throws question_invalid */
function readRequest(request: QuestionRequest, task: TaskRow | undefined) {
  const {prompt, options: asked = [], expected_information_gain_bits: gain, expected_user_cost: cost} = request
  const {question_kind: kind = asked.length > 0 ? 'multiple_choice' : 'open_ended'} = request
  const refuse = (fault: string): never => {
    throw new SvcError('question_invalid', {place: 'The question', fault})
  }
  const limit = (what: string, text: string, max: number) => {
    if (text.trim() === '' || text.length > max) refuse(`its ${what} is blank or longer than ${max} characters`)
  }
  const session = sessionOfQuestion(request, task)
  if (session === '') refuse('it has neither a session nor a task')
  limit('session id', session, questionLimits.session)
  limit('prompt', prompt, questionLimits.prompt)
  if (!questionKinds.includes(kind)) refuse(`its kind is not one of: ${questionKinds.join(', ')}`)
  if (request.blocks && task === undefined) refuse('it has no task that it could block')
  const options = kind === 'assumption_confirm' && asked.length === 0 ? confirmation : asked
  const hasOptions = kind === 'multiple_choice' || kind === 'assumption_confirm'
  if (!hasOptions && options.length > 0) refuse(`a question of the kind ${kind} has no options`)
  if (hasOptions && (options.length < 2 || options.length > questionLimits.options))
    refuse(`it needs 2 to ${questionLimits.options} options`)
  for (const {option_id, label} of options) {
    limit('option id', option_id, questionLimits.optionId)
    limit('option label', label, questionLimits.label)
  }
  const names = options.flatMap(({option_id, label}) => [...new Set([normalise(option_id), normalise(label)])])
  if (new Set(names).size < names.length) refuse('two of its options have the same id or label')
  for (const value of [gain, cost]) if (value !== undefined && !(value >= 0)) refuse('its gain or cost is negative')
  const estimate: Pick<QuestionCandidate, 'expected_information_gain_bits' | 'expected_user_cost'> = {
    expected_information_gain_bits: gain ?? policy.minGainBits,
    expected_user_cost: cost ?? 0,
  }
  return {session_id: session, prompt, question_kind: kind, options, estimate}
}

/** Options are compared without regard to case and surrounding spaces. */
export const normalise = (text: string): string => text.trim().toLowerCase()
