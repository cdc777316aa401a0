import {SvcError} from '../errors/index.js'
import type {HttpClient} from '../net/index.js'
import type {ChatRequest} from './chat.js'
import type {InferenceEndpoint} from './endpoint.js'
import {placeholderModel} from './registry.js'

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
  const {body} = await client.json<unknown>(modelsPath, {signal})
  const {data} = Object(body) as {data?: unknown}
  const id = Array.isArray(data) ? (Object(data[0]) as {id?: unknown}).id : undefined
  if (typeof id === 'string') return id
  throw new SvcError('inference_protocol', {url: client.baseUrl + modelsPath, reason: 'it lists no models'})
}

/**
 * Generates the next message of a conversation by the OpenAI API, which more servers have than `/api/chat`. The
 * connection is closed when the signal aborts.
 * @throws inference_protocol for an invalid response, what `HttpClient.json` throws
 */
export async function completeChat(
  client: HttpClient,
  {model, messages, temperature, maxTokens}: Pick<ChatRequest, 'model' | 'messages' | 'temperature' | 'maxTokens'>,
  signal: AbortSignal,
): Promise<string> {
  const body = {model, messages, temperature, max_tokens: maxTokens, stream: false}
  const {body: answer} = await client.json<unknown>(completionPath, {method: 'POST', body, signal})
  const {choices} = Object(answer) as {choices?: unknown}
  const {message} = Object(Array.isArray(choices) ? choices[0] : undefined) as {message?: unknown}
  const {content} = Object(message) as {content?: unknown}
  if (typeof content === 'string') return content
  throw new SvcError('inference_protocol', {
    url: client.baseUrl + completionPath,
    reason: 'its answer has no "choices[0].message.content"',
  })
}
