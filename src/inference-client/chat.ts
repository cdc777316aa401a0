import type {HttpClient} from '../net/index.js'
import {type AnswerRoute, defaultGenerationLimits, type Generation, streamedAnswer} from './streamed-answer.js'

/** One turn of a conversation, as a model reads it. */
export interface ChatMessage {
  role: 'system' | 'user' | 'assistant'
  content: string
}

/** One call of `/api/chat`. */
export interface ChatRequest {
  model: string
  /** The oldest first. */
  messages: readonly ChatMessage[]
  temperature: number
  topP?: number | undefined
  /** Most tokens of the answer. */
  maxTokens: number
  /** Asks for an answer of this form; a server may refuse that. */
  format?: 'json' | Readonly<Record<string, unknown>> | undefined
}

const route: AnswerRoute = {
  path: '/api/chat',
  member: 'message.content',
  textOf: ({message}) => (Object(message) as {content?: unknown}).content,
}

/**
 * Has the next turn of a conversation generated, and reads it as it is made. The connection ends with the answer, and
 * at once when the signal aborts.
 * @throws as `streamedAnswer`
 */
export function chat(
  client: HttpClient,
  {model, messages, temperature, topP, maxTokens, format}: ChatRequest,
  signal: AbortSignal,
  limits = defaultGenerationLimits,
  onDelta?: (text: string) => void,
): Promise<Generation> {
  const options = {temperature, ...(topP === undefined ? {} : {top_p: topP}), num_predict: maxTokens}
  const body = {model, messages, stream: true, ...(format === undefined ? {} : {format}), options}
  return streamedAnswer(client, route, body, {signal, limits, onDelta})
}
