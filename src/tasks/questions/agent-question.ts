import {SvcError} from '../../errors/index.js'
import {questioningPolicy as policy, submissionConfidence, type WorkspaceContext} from '../../workspace/index.js'
import {agentTrust} from '../attention/agent-trust.js'
import {attentionBudget, clarificationMs} from '../attention/budget.js'
import type {InterruptionDecision, InterruptionSignals} from '../attention/decide.js'
import {chargeAnswer, considerInterruption, isInterruption, type QuestionSubject} from '../attention/interrupt.js'
import {isRisky} from '../attention/submit-signals.js'
import type {Judgement} from '../gates/judge-evidence.js'
import {requireRow, type TaskRow} from '../lifecycle/task-rows.js'
import {askQuestion, type QuestionRequest, sessionOfQuestion} from './ask-question.js'
import type {StopReason} from './choose-question.js'
import {countPending, type Question, type QuestionRow, questionTurns} from './question-rows.js'
import {noQuestion, type Questioning, questioningOf} from './questioning.js'

/** A question of an agent that was stored. */
export interface AgentQuestion {
  question: Question
  /** False if the question waits in the inbox instead of interrupting the user. */
  interrupts: boolean
}

const surface = 'svc_questioning_ask'

/**
 * Stores a question of an agent, if the attention of the user allows it. With `attention_enabled`, a question that gains
 * little waits in the inbox, and one for which no attention is left is refused.
 * @throws as `askQuestion`
 */
export function askAsAgent(context: WorkspaceContext, request: QuestionRequest): AgentQuestion {
  // A refusal is recorded too, so it is thrown after the transaction.
  const outcome = context.store.transaction(() => {
    const task = request.task_id === undefined ? undefined : requireRow(context, request.task_id)
    const session = sessionOfQuestion(request, task)
    const signals = signalsOf(context, {...request, session_id: session}, task)
    const decision = considerInterruption(context, signals, subjectOf(task, 'a2a_interrupt'))
    if (decision?.decision === 'proceed_autonomously') return {session, reason: reasonOf(decision)}
    const question = askQuestion(context, request)
    return {question, interrupts: decision === undefined || isInterruption(decision)}
  })
  if (outcome.reason !== undefined) throw new SvcError('question_refused', outcome)
  return outcome
}

const reasonOf = ({reason}: InterruptionDecision): StopReason =>
  reason === 'clarification_turns_used_up' ? 'max_clarification_turns' : 'attention_budget_exceeded'

/** Charges the attention that an answer took, in a transaction of the caller. */
export function chargeQuestion(context: WorkspaceContext, row: QuestionRow, task: TaskRow | undefined): void {
  chargeAnswer(context, signalsOf(context, row, task), subjectOf(task, 'clarification_answered'))
}

const subjectOf = (task: TaskRow | undefined, type: QuestionSubject['type']): QuestionSubject => ({
  surface,
  type,
  task,
  agent: task === undefined ? undefined : {id: task.agent_id, name: task.agent_name},
})

interface Asked {
  session_id: string
  prompt: string
  expected_information_gain_bits?: number
  expected_user_cost?: number
}

function signalsOf(context: WorkspaceContext, question: Asked, task: TaskRow | undefined): InterruptionSignals {
  const {session_id, prompt, expected_information_gain_bits: gain, expected_user_cost: cost} = question
  const risky = isRisky(task?.description ?? prompt)
  const {confidence, contradiction} = submissionConfidence[risky ? 'risky' : 'other']
  const turns = questionTurns(context, session_id, task?.id)
  return {
    channel: task === undefined ? 'chat_clarification' : 'a2a_escalation',
    expected_information_gain_bits: gain || policy.assumedGainBits,
    expected_user_cost: cost || policy.assumedUserCost,
    confidence_estimate: confidence,
    contradiction_ratio: contradiction,
    pending_clarification_backlog: countPending(context),
    clarification_turn_index: turns,
    max_clarification_turns: policy.maxTurns,
    irreversible_or_high_risk: risky,
    trust_score: agentTrust(context, task?.agent_name).trust,
    open_question_session: turns > 0,
  }
}

export interface Chat {
  sessionId: string
  message: string
  /** The chat is about open files. */
  isInline: boolean
}

/** The question that would improve the answer of a chat, if the attention of the user suffices for it. */
export function chatQuestioning(context: WorkspaceContext, judgement: Judgement, chat: Chat): Questioning {
  const {sessionId, message, isInline} = chat
  const turns = questionTurns(context, sessionId)
  const suggested = questioningOf(judgement, message, {turns, attentionMs: clarificationMs(context)})
  if (!suggested.question_needed) return suggested
  const signals: InterruptionSignals = {
    channel: isInline ? 'inline_assist' : 'chat_clarification',
    expected_information_gain_bits: suggested.expected_information_gain_bits,
    expected_user_cost: suggested.expected_user_cost,
    confidence_estimate: judgement.confidence_estimate,
    contradiction_ratio: judgement.contradiction_ratio,
    pending_clarification_backlog: countPending(context),
    irreversible_or_high_risk: false,
  }
  const subject: QuestionSubject = {surface: 'svc_chat_message', type: 'a2a_interrupt'}
  const decision = context.store.transaction(() => considerInterruption(context, signals, subject))
  if (decision === undefined || isInterruption(decision)) return suggested
  const {spent_ratio: ratio} = attentionBudget(context)
  return {...noQuestion, stop_reason: ratio >= 1 ? 'attention_budget_exceeded' : 'user_cost_too_high'}
}
