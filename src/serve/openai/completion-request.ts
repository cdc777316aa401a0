import type {Prompt} from '../../llm/index.js'
import {Fields, given, longestStop} from '../body.js'
import type {OpenAiRequest} from './chat-request.js'
import {readDelivery} from './delivery.js'
import {type OpenAiDefaults, readSampling} from './sampling.js'
import {refuseUnsupported, unsupported, unsupportedByCompletions} from './unsupported.js'

/**
 * Reads the body of `POST /v1/completions`, which goes on from a text as it is.
 * @throws bad_request, unsupported_value, body_missing
 */
export function readCompletion(body: unknown, defaults: OpenAiDefaults): OpenAiRequest {
  const fields = Fields.ofBody(body)
  refuseUnsupported(fields, unsupportedByCompletions)
  const delivery = readDelivery(fields)
  if ((fields.integer('best_of') ?? delivery.n) !== delivery.n)
    throw unsupported(fields, 'best_of', 'best_of must equal n: no reply is left out')
  return {
    ...delivery,
    request: {
      prompt: readPrompt(fields),
      maxTokens: fields.integer('max_tokens', {min: 1}) ?? defaults.maxTokens,
      stop: fields.texts('stop', {max: 4, longest: longestStop}) ?? [],
      sampling: readSampling(fields, defaults),
      ...given({topLogprobs: fields.integer('logprobs', {min: 0, max: 5})}),
    },
  }
}

/** Without a text the model begins a new one. */
function readPrompt(fields: Fields): Prompt {
  const text = fields.texts('prompt', {min: 1, max: 1})?.[0] ?? ''
  return text === '' ? {kind: 'beginning'} : {kind: 'raw', text}
}
