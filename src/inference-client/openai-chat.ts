import {SvcError} from '../errors/index.js'
import type {HttpClient} from '../net/index.js'
import type {ChatMessage} from './chat.js'

/** A request to `/v1/chat/completions`. */
export interface OpenAiChatRequest {
  model: string
  /** Oldest first. */
  messages: readonly ChatMessage[]
  temperature: number
  /** Maximum tokens of the answer. */
  maxTokens: number
}

const path = '/v1/chat/completions'

/**
 * Asks any server with the API of OpenAI for the next message, as one response. The connection is closed when the signal
 * aborts.
 * @throws inference_protocol for an invalid response; what `HttpClient.json` throws
 */
export async function openAiChat(
  client: HttpClient,
  {model, messages, temperature, maxTokens}: OpenAiChatRequest,
  signal: AbortSignal,
): Promise<string> {
  const {body} = await client.json<{choices?: {message?: {content?: unknown}}[]}>(path, {
    method: 'POST',
    body: {model, messages, temperature, max_tokens: maxTokens},
    signal,
  })
  const text = body?.choices?.[0]?.message?.content
  if (typeof text !== 'string')
    throw new SvcError('inference_protocol', {url: client.baseUrl + path, reason: 'the response has no message'})
  return text
}
