import {completeChat} from './chat-completion.js'
import type {ChatMessage, JsonSchema} from './chat-request.js'
import type {InferenceClient} from './endpoint.js'
import {isLocalServer} from './profile.js'
import {type AnswerRoute, defaultGenerationLimits, type Generation, streamedAnswer} from './streamed-answer.js'

/** A request for a text. */
export interface GenerationRequest {
  model: string
  system: string
  prompt: string
  temperature: number
  /** Nucleus sampling threshold, 0 to 1; default: that of the server. */
  topP?: number | undefined
  /** Maximum tokens of the answer. */
  maxTokens: number
  /** Requested context length in tokens, prompt and answer together; default: that of the server. */
  contextLength?: number | undefined
  /** JSON Schema of the answer. Servers of the Ollama API enforce it; to others it is not sent. */
  format?: JsonSchema | undefined
}

const route: AnswerRoute = {path: '/api/generate', member: 'response', textOf: ({response}) => response}

/**
 * Generates a text and streams it; a server that only has the OpenAI API answers in one piece, with the context length of
 * its model. The connection is closed at the end of the answer or when the signal aborts.
 * @throws as `streamedAnswer`
 */
export function generate(
  client: InferenceClient,
  {model, system, prompt, temperature, topP, maxTokens, contextLength, format}: GenerationRequest,
  signal: AbortSignal,
  limits = defaultGenerationLimits,
): Promise<Generation> {
  if (!isLocalServer(client.profile)) {
    const messages: ChatMessage[] = [
      {role: 'system', content: system},
      {role: 'user', content: prompt},
    ]
    return completeChat(client, {model, messages, temperature, topP, maxTokens, format}, signal)
  }
  const options = {
    temperature,
    ...(topP === undefined ? {} : {top_p: topP}),
    num_predict: maxTokens,
    ...(contextLength === undefined ? {} : {num_ctx: contextLength}),
  }
  const body = {model, system, prompt, stream: true, ...(format === undefined ? {} : {format}), options}
  return streamedAnswer(client, route, body, {signal, limits})
}
