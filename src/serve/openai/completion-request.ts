import type {GenerateRequest} from '../../llm/index.js'
import {Fields, given, longestStop} from '../body.js'
import type {OpenAiRequest} from './chat-request.js'
import {readDelivery} from './delivery.js'
import {type OpenAiDefaults, readSampling} from './sampling.js'
import {refuseUnsupported, unsupported, unsupportedByCompletions} from './unsupported.js'

/** Most prompts of one request, and most replies to all of them. */
const mostPrompts = 128

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
  const prompts = readPrompts(fields)
  const most = Math.floor(mostPrompts / prompts.length)
  if (delivery.n > most) throw fields.wrong('n', `be at most ${most} with ${prompts.length} prompts`)
  const echo = fields.boolean('echo') === true
  const request: Omit<GenerateRequest, 'prompt'> = {
    maxTokens: fields.integer('max_tokens', {min: 0}) ?? defaults.maxTokens,
    stop: fields.texts('stop', {max: 4, longest: longestStop}) ?? [],
    sampling: readSampling(fields, defaults),
    ...given({topLogprobs: fields.integer('logprobs', {min: 0, max: 5})}),
  }
  return {
    ...delivery,
    requests: prompts.map((prompt) => ({
      ...request,
      ...promptOf(prompt),
      ...(echo ? {echo: typeof prompt === 'string' ? prompt : true} : {}),
    })),
  }
}

/** Without a text the model begins a new one. */
function promptOf(prompt: string | readonly number[]): Pick<GenerateRequest, 'prompt'> {
  if (typeof prompt !== 'string') return {prompt: {kind: 'tokens', tokens: prompt}}
  return {prompt: prompt === '' ? {kind: 'beginning'} : {kind: 'raw', text: prompt}}
}

/** A text, or the ids of its tokens; or a list of either. */
function readPrompts(fields: Fields): readonly (string | readonly number[])[] {
  const value = fields.get('prompt') ?? ''
  const all = typeof value === 'string' || isTokens(value) ? [value] : value
  if (!Array.isArray(all) || !(all.every((prompt) => typeof prompt === 'string') || all.every(isTokens)))
    throw fields.wrong('prompt', 'be a string, a list of token ids, or a list of either')
  if (all.length === 0) throw fields.wrong('prompt', 'have at least 1 item')
  if (all.length > mostPrompts) throw fields.wrong('prompt', `have at most ${mostPrompts} items`)
  return all
}

/** Ids that no vocabulary has are refused by the model. */
const isTokens = (value: unknown): value is readonly number[] =>
  Array.isArray(value) && value.length > 0 && value.every((id) => Number.isSafeInteger(id) && id >= 0)
