import {isErrorOf} from '../errors/index.js'
import type {Session} from './session.js'
import type {Sessions} from './sessions.js'

/** Maximum length of a recorded turn, characters. */
const maxContentLength = 16_384

/** A session, or undefined if it does not exist or cannot be read. */
export function findSession(sessions: Sessions, id: string): Session | undefined {
  try {
    return sessions.load(id)
  } catch (error) {
    if (isErrorOf(error, 'session_not_found') || isErrorOf(error, 'session_damaged')) return undefined
    throw error
  }
}

export interface Exchange {
  question: string
  answer: string
  /** Tokens of the question and of the answer, if known. */
  inputTokens?: number
  outputTokens?: number
}

/**
 * Adds a question and its answer to a session as two turns. Ids that are not of a session are ignored: the sessions of
 * clients have ids too.
 */
export function recordExchange(sessions: Sessions, id: string | undefined, exchange: Exchange): void {
  if (id === undefined || findSession(sessions, id) === undefined) return
  const {question, answer, inputTokens = 0, outputTokens = 0} = exchange
  sessions.addTurn(id, {role: 'user', content: question.slice(0, maxContentLength), tokens: inputTokens})
  sessions.addTurn(id, {role: 'assistant', content: answer.slice(0, maxContentLength), tokens: outputTokens})
}
