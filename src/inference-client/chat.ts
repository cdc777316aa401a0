import type {HttpClient} from '../net/index.js'
import {type AnswerRoute, defaultGenerationLimits, type Generation, streamedAnswer} from './streamed-answer.js'

/** One message of a conversation. */
export interface ChatMessage {
  role: 'system' | 'user' | 'assistant'
  content: string
}

/** A request to `/api/chat`. */
export interface ChatRequest {
  model: string
  /** Oldest first. */
  messages: readonly ChatMessage[]
  temperature: number
  topP?: number | undefined
  /** Maximum tokens of the answer. */
  maxTokens: number
  /** Output format: JSON or a JSON schema; not every server supports it. */
  format?: 'json' | Readonly<Record<string, unknown>> | undefined
}

const route: AnswerRoute = {
  path: '/api/chat',
  member: 'message.content',
  textOf: ({message}) => (Object(message) as {content?: unknown}).content,
}

/**
 * Generates the next message of a conversation and streams it. The connection is closed at the end of the answer or when
 * the signal aborts.
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
