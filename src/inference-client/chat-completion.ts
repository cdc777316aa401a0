import {SvcError} from '../errors/index.js'
import type {HttpClient} from '../net/index.js'
import type {ChatRequest} from './chat-request.js'
import type {InferenceClient, InferenceEndpoint} from './endpoint.js'
import {isLocalServer} from './profile.js'
import {placeholderModel} from './registry.js'
import type {Generation} from './streamed-answer.js'
import {readToolCalls, toolsField, writtenMessage} from './tool-calls.js'

const modelsPath = '/v1/models'
const completionPath = '/v1/chat/completions'

/**
 * Returns the model of the endpoint; if none is configured, the first one that the server lists by the OpenAI API.
 * @throws inference_protocol if it lists none, what `HttpClient.json` throws
 */
export async function completionModel(
  client: HttpClient,
  {model}: InferenceEndpoint,
  signal: AbortSignal,
): Promise<string> {
  if (model !== placeholderModel) return model
  const [id] = await completionModels(client, signal)
  if (id !== undefined) return id
  throw new SvcError('inference_protocol', {url: client.baseUrl + modelsPath, reason: 'it lists no models'})
}

/** Ids of the models that the server lists by the OpenAI API. @throws what `HttpClient.json` throws */
export async function completionModels(client: HttpClient, signal: AbortSignal): Promise<string[]> {
  const {body} = await client.json<unknown>(modelsPath, {signal})
  const {data} = Object(body) as {data?: unknown}
  const models: unknown[] = Array.isArray(data) ? data : []
  return models.map((model) => Object(model).id).filter((id) => typeof id === 'string')
}

/**
 * Generates the next message of a conversation by the OpenAI API, which more servers have than `/api/chat`. The
 * connection is closed when the signal aborts. A schema is sent only to servers of the Ollama API, because others may
 * refuse it; `pattern` is not sent.
 * @throws inference_protocol for an invalid response, what `HttpClient.json` throws
 */
export async function completeChat(
  client: InferenceClient,
  request: ChatRequest,
  signal: AbortSignal,
): Promise<Generation> {
  const {model, messages, temperature, topP, maxTokens} = request
  const format = request.format === 'json' || isLocalServer(client.profile) ? request.format : undefined
  const body = {
    model,
    messages: messages.map((message) => writtenMessage(message, 'openai')),
    temperature,
    ...(topP === undefined ? {} : {top_p: topP}),
    max_tokens: maxTokens,
    ...(format === undefined ? {} : {response_format: responseFormat(format)}),
    ...toolsField(request.tools),
    stream: false,
  }
  const {body: answer} = await client.json<unknown>(completionPath, {method: 'POST', body, signal})
  const {choices, usage} = Object(answer) as {choices?: unknown; usage?: unknown}
  const {message, finish_reason} = Object(Array.isArray(choices) ? choices[0] : undefined) as {
    message?: unknown
    finish_reason?: unknown
  }
  const {content, tool_calls} = Object(message) as {content?: unknown; tool_calls?: unknown}
  const calls = readToolCalls(tool_calls)
  const text = content ?? (calls === undefined || calls.length === 0 ? undefined : '')
  const invalid = (reason: string) => new SvcError('inference_protocol', {url: client.baseUrl + completionPath, reason})
  if (calls === undefined) throw invalid('its answer has a malformed "choices[0].message.tool_calls"')
  if (typeof text !== 'string') throw invalid('its answer has no "choices[0].message.content"')
  const {prompt_tokens: input, completion_tokens: output} = Object(usage) as Record<string, unknown>
  return {
    text,
    ...(calls.length === 0 ? {} : {calls}),
    inputTokens: count(input),
    outputTokens: count(output),
    cutOff: finish_reason === 'length',
  }
}

const responseFormat = (format: NonNullable<ChatRequest['format']>) =>
  format === 'json' ? {type: 'json_object'} : {type: 'json_schema', json_schema: {name: 'answer', schema: format}}

/** A token count; 0 if the server does not report it. */
const count = (tokens: unknown): number => (Number.isSafeInteger(tokens) && Number(tokens) >= 0 ? Number(tokens) : 0)
