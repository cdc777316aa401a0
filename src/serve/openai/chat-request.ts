import type {GenerateRequest} from '../../llm/index.js'
import {Fields, given, longestStop} from '../body.js'
import {type Delivery, readDelivery} from './delivery.js'
import {readMessages} from './messages.js'
import {type OpenAiDefaults, readSampling} from './sampling.js'
import {refuseUnsupported, unsupportedByChat} from './unsupported.js'

/** What `/v1/chat/completions` and `/v1/completions` ask for. */
export interface OpenAiRequest extends Delivery {
  /** One for each prompt. */
  requests: readonly GenerateRequest[]
}

/**
 * Reads the body of `POST /v1/chat/completions`. Fields that say nothing about the text are not looked at.
 * @throws bad_request, unsupported_value, body_missing
 */
export function readChatCompletion(body: unknown, defaults: OpenAiDefaults): OpenAiRequest {
  const fields = Fields.ofBody(body)
  refuseUnsupported(fields, unsupportedByChat)
  fields.boolean('parallel_tool_calls')
  const older = fields.integer('max_tokens', {min: 1})
  const request: GenerateRequest = {
    prompt: {kind: 'chat', messages: readMessages(fields), overflow: 'refuse'},
    maxTokens: fields.integer('max_completion_tokens', {min: 1}) ?? older ?? defaults.maxTokens,
    stop: fields.texts('stop', {max: 4, longest: longestStop}) ?? [],
    sampling: readSampling(fields, defaults),
    ...given({topLogprobs: readTopLogprobs(fields)}),
  }
  return {...readDelivery(fields), requests: [request]}
}

function readTopLogprobs(fields: Fields): number | undefined {
  const count = fields.integer('top_logprobs', {min: 0, max: 20}) ?? 0
  if (fields.boolean('logprobs') === true) return count
  if (count > 0) throw fields.wrong('top_logprobs', 'stand beside logprobs: true')
  return undefined
}
