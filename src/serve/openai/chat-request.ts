import type {GenerateRequest} from '../../llm/index.js'
import {definedEntries, Fields, maxStopLength} from '../body.js'
import {type Delivery, readDelivery} from './delivery.js'
import {readMessages} from './messages.js'
import {type OpenAiDefaults, readSampling} from './sampling.js'
import {refuseUnsupported, unsupportedByChat} from './unsupported.js'

/** A request of `/v1/chat/completions` or `/v1/completions`. */
export interface OpenAiRequest extends Delivery {
  /** One request per prompt. */
  requests: readonly GenerateRequest[]
}

/**
 * Reads the body of `POST /v1/chat/completions`. Fields without an effect on the text are ignored.
 * @throws bad_request, unsupported_value, body_missing
 */
export function readChatCompletion(body: unknown, defaults: OpenAiDefaults): OpenAiRequest {
  const fields = Fields.ofBody(body)
  refuseUnsupported(fields, unsupportedByChat)
  fields.boolean('parallel_tool_calls')
  const deprecated = fields.integer('max_tokens', {min: 1})
  const request: GenerateRequest = {
    prompt: {kind: 'chat', messages: readMessages(fields), overflow: 'refuse'},
    maxTokens: fields.integer('max_completion_tokens', {min: 1}) ?? deprecated ?? defaults.maxTokens,
    stop: fields.texts('stop', {max: 4, longest: maxStopLength}) ?? [],
    sampling: readSampling(fields, defaults),
    ...definedEntries({topLogprobs: readTopLogprobs(fields)}),
  }
  return {...readDelivery(fields), requests: [request]}
}

function readTopLogprobs(fields: Fields): number | undefined {
  const count = fields.integer('top_logprobs', {min: 0, max: 20}) ?? 0
  if (fields.boolean('logprobs') === true) return count
  if (count > 0) throw fields.wrong('top_logprobs', 'be used with logprobs: true')
  return undefined
}
