import {randomUUID} from 'node:crypto'
import {SvcError} from '../errors/index.js'
import {displayAgent, requireAgent} from '../tasks/index.js'
import type {MessageContext} from './context.js'
import {isUnread} from './delivery.js'
import {bindIdentity} from './identity.js'
import type {MessageRow} from './message-rows.js'
import {requireReceiver} from './receiver.js'
import {sendMessage} from './send.js'
import {acknowledgeMessage} from './settle.js'

/**
 * Questions between agents: durable messages with a correlation id that starts with this prefix. The answer is a message
 * with the same correlation id.
 */
const prefix = 'question-'

/** Agents are ids or names. */
export interface AgentQuestion {
  from: string | number
  to: string | number
  question: string
  /** Session of the asking agent; required if it has one. */
  sessionId?: string
}

export interface PendingAgentQuestion {
  correlation_id: string
  from_agent: number
  to_agent: number
  question: string
  asked_at_ms: number
}

export interface AgentAnswer {
  correlationId: string
  answer: string
  /** Default: the agent that was asked. */
  from?: string | number
  /** Session of the answering agent; required if it has one. */
  sessionId?: string
}

export interface AnsweredQuestion {
  correlation_id: string
  from_agent: number
  to_agent: number
  message_id: number
}

/** Asks an agent. @throws agent_not_found, agent_session_mismatch, message_invalid */
export function askAgent(
  context: MessageContext,
  {from, to, question, sessionId}: AgentQuestion,
): PendingAgentQuestion {
  const [asker, asked] = [requireAgent(context, from).id, requireAgent(context, to).id]
  if (asker === asked) throw new SvcError('message_invalid', {fault: 'an agent cannot ask itself'})
  requireText('question', question)
  const correlationId = `${prefix}${randomUUID()}`
  sendMessage(context, {
    sender: asker,
    receiver: asked,
    type: 'help_request',
    payload: question,
    route: 'db',
    correlationId,
    ...(sessionId === undefined ? {} : {sessionId}),
  })
  return {correlation_id: correlationId, from_agent: asker, to_agent: asked, question, asked_at_ms: context.now()}
}

/** @throws message_invalid */
function requireText(what: string, text: string): void {
  if (text.trim() === '') throw new SvcError('message_invalid', {fault: `its ${what} is blank`})
}

const ofQuestions = "repository_id = @repository AND msg_type = 'help_request' AND correlation_id GLOB 'question-*'"

/** The unanswered questions to an agent, oldest first. @throws agent_not_found, agent_session_mismatch */
export function pendingAgentQuestions(
  context: MessageContext,
  nameOrId: string | number,
  {sessionId, limit = 256}: {sessionId?: string | undefined; limit?: number | undefined} = {},
): PendingAgentQuestion[] {
  const {store, repositoryId: repository} = context
  const agent = requireReceiver(context, nameOrId)
  bindIdentity(agent, sessionId)
  return store
    .all<MessageRow>(
      `SELECT * FROM a2a_messages WHERE ${ofQuestions} AND receiver_agent = @agent AND ${isUnread} ORDER BY id LIMIT @limit`,
      {repository, agent: agent.id, limit},
    )
    .map((row) => ({
      correlation_id: row.correlation_id ?? '',
      from_agent: row.sender_agent,
      to_agent: row.receiver_agent,
      question: row.payload,
      asked_at_ms: row.created_at_ms,
    }))
}

/**
 * Answers a question of an agent, once: sends the answer to the agent that asked, and acknowledges the question. The same
 * answer again has the same reply.
 * @throws question_not_found, question_answered, agent_not_found, agent_session_mismatch, message_invalid
 */
export function answerAgent(
  context: MessageContext,
  {correlationId, answer, from, sessionId}: AgentAnswer,
): AnsweredQuestion {
  const {store, repositoryId: repository} = context
  requireText('answer', answer)
  return store.transaction(() => {
    const row = store.get<MessageRow>(
      `SELECT * FROM a2a_messages WHERE ${ofQuestions} AND correlation_id = @correlation`,
      {repository, correlation: correlationId.trim()},
    )
    const answerer = from === undefined || from === 0 ? row?.receiver_agent : requireAgent(context, from).id
    if (row === undefined || answerer !== row.receiver_agent)
      throw new SvcError('question_not_found', {
        question: `${JSON.stringify(correlationId)}${row === undefined ? '' : ` to ${displayAgent(answerer ?? 0)}`}`,
      })
    bindIdentity(requireReceiver(context, row.receiver_agent), sessionId)
    const reply = {correlation_id: correlationId, from_agent: row.receiver_agent, to_agent: row.sender_agent}
    if (row.acknowledged_at_ms !== null) return {...reply, message_id: repeatedAnswer(context, row, answer)}
    const {message_id} = sendMessage(context, {
      sender: row.receiver_agent,
      receiver: row.sender_agent,
      type: 'free_form',
      payload: answer,
      route: 'db',
      correlationId: row.correlation_id ?? correlationId,
      ...(sessionId === undefined ? {} : {sessionId}),
    })
    // The answer settles the question, regardless of which reader has claimed it.
    acknowledgeMessage(context, row.receiver_agent, {id: row.id}, {owner: row.claim_owner ?? ''})
    return {...reply, message_id}
  })
}

/** Id of the message with the same answer. @throws question_answered if there is none */
function repeatedAnswer(
  {store, repositoryId: repository}: MessageContext,
  question: MessageRow,
  answer: string,
): number {
  const {correlation_id: correlation, receiver_agent: from, sender_agent: to} = question
  const sent = store.get<{id: number; payload: string}>(
    `SELECT id, payload FROM a2a_messages WHERE repository_id = @repository AND sender_agent = @from
  AND receiver_agent = @to AND correlation_id = @correlation AND id > @question ORDER BY id LIMIT 1`,
    {repository, from, to, correlation, question: question.id},
  )
  if (sent?.payload === answer) return sent.id
  throw new SvcError('question_answered', {question: correlation ?? '', answer: sent?.payload})
}
