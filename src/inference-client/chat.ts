import {completeChat} from './chat-completion.js'
import type {ChatRequest} from './chat-request.js'
import type {InferenceClient} from './endpoint.js'
import {isLocalServer} from './profile.js'
import {
  type AnswerRoute,
  defaultGenerationLimits,
  type Generation,
  type Listeners,
  streamedAnswer,
} from './streamed-answer.js'
import {readToolCalls, toolsField, writtenMessage} from './tool-calls.js'

const route: AnswerRoute = {
  path: '/api/chat',
  member: 'message.content',
  textOf: ({message}) => (Object(message) as {content?: unknown}).content,
  callsOf: ({message}) => readToolCalls((Object(message) as {tool_calls?: unknown}).tool_calls),
  thinkingOf: ({message}) => (Object(message) as {thinking?: unknown}).thinking,
}

/**
 * Generates the next message of a conversation and streams it. A server that only has the OpenAI API answers in one
 * piece. The connection is closed at the end of the answer or when the signal aborts.
 * @throws as `streamedAnswer`
 */
export async function chat(
  client: InferenceClient,
  request: ChatRequest,
  signal: AbortSignal,
  limits = defaultGenerationLimits,
  {onDelta, onThinking}: Listeners = {},
): Promise<Generation> {
  if (!isLocalServer(client.profile)) {
    const generation = await completeChat(client, request, signal)
    await onDelta?.(generation.text)
    return generation
  }
  const {model, temperature, topP, maxTokens, format, pattern, think, tools} = request
  const messages = request.messages.map((message) => ({
    ...writtenMessage(message, 'ollama'),
    ...(message.thinking === undefined ? {} : {thinking: message.thinking}),
  }))
  const options = {
    ...request.options,
    temperature,
    ...(topP === undefined ? {} : {top_p: topP}),
    num_predict: maxTokens,
  }
  const required = {
    ...(format && {format}),
    ...(pattern && {guided_regex: pattern}),
    ...(think === undefined ? {} : {think}),
    ...toolsField(tools),
  }
  const body = {model, messages, stream: true, ...required, options}
  return streamedAnswer(client, route, body, {signal, limits, onDelta, onThinking})
}
