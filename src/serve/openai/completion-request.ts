import {SvcError} from '../../errors/index.js'
import type {GenerateRequest} from '../../llm/index.js'
import {abilitiesFor} from '../abilities.js'
import {definedEntries, Fields, stopBounds} from '../body.js'
import type {RequestDefaults} from '../defaults.js'
import {readFormat, readResponseFormat} from '../reply-format.js'
import {fieldsOf} from '../request-fields.js'
import {readMaxTokens, readSampling} from '../sampling-fields.js'
import type {OpenAiRequest} from './chat-request.js'
import {readDelivery} from './delivery.js'

/** Maximum prompts of a request, and maximum replies to all of them together. */
const maxPrompts = 128

/**
 * Reads the body of `POST /v1/completions`, which continues plain text.
 * @throws bad_request, unsupported_value, body_missing
 */
export function readCompletion(body: unknown, defaults: RequestDefaults): OpenAiRequest {
  const fields = Fields.ofBody(body, fieldsOf('/v1/completions'))
  const delivery = readDelivery(fields)
  if ((fields.integer('best_of') ?? delivery.n) !== delivery.n)
    throw new SvcError('unsupported_value', {
      reason: 'best_of must equal n, because all replies are returned',
      param: 'best_of',
    })
  const prompts = readPrompts(fields)
  const maxReplies = Math.floor(maxPrompts / prompts.length)
  if (delivery.n > maxReplies) throw fields.wrong('n', `be at most ${maxReplies} with ${prompts.length} prompts`)
  const echo = fields.boolean('echo') === true
  const suffix = fields.string('suffix') ?? ''
  if (suffix !== '' && echo) throw fields.wrong('echo', 'be false with suffix')
  if (suffix !== '' && prompts.some((prompt) => typeof prompt !== 'string'))
    throw fields.wrong('prompt', 'be a string or a list of strings with suffix')
  const request: Omit<GenerateRequest, 'prompt'> = {
    maxTokens: readMaxTokens(fields, ['max_tokens'], 0, defaults),
    stop: fields.texts('stop', stopBounds) ?? defaults.stop,
    sampling: readSampling(fields, defaults),
    ...readFormat(fields, readResponseFormat),
    ...definedEntries({topLogprobs: fields.integer('logprobs', {min: 0, max: 5})}),
  }
  const requests = prompts.map(
    (prompt): GenerateRequest => ({
      ...request,
      ...promptOf(prompt, suffix),
      ...(echo ? {echo: typeof prompt === 'string' ? prompt : true} : {}),
    }),
  )
  return {...delivery, requests, ...abilitiesFor(requests[0] as GenerateRequest)}
}

/** With an empty prompt, the model starts a new text. */
function promptOf(prompt: string | readonly number[], suffix: string): Pick<GenerateRequest, 'prompt'> {
  if (typeof prompt !== 'string') return {prompt: {kind: 'tokens', tokens: prompt}}
  if (suffix !== '') return {prompt: {kind: 'insertion', text: prompt, suffix}}
  return {prompt: prompt === '' ? {kind: 'beginning'} : {kind: 'raw', text: prompt}}
}

/** A string or a list of token ids, or a list of either. */
function readPrompts(fields: Fields): readonly (string | readonly number[])[] {
  const value = fields.get('prompt') ?? ''
  const all = typeof value === 'string' || isTokens(value) ? [value] : value
  if (!Array.isArray(all) || !(all.every((prompt) => typeof prompt === 'string') || all.every(isTokens)))
    throw fields.wrong('prompt', 'be a string, a list of token ids, or a list of either')
  if (all.length === 0) throw fields.wrong('prompt', 'have at least 1 item')
  if (all.length > maxPrompts) throw fields.wrong('prompt', `have at most ${maxPrompts} items`)
  return all
}

/** Ids outside the vocabulary are rejected by the model. */
const isTokens = (value: unknown): value is readonly number[] =>
  Array.isArray(value) && value.length > 0 && value.every((id) => Number.isSafeInteger(id) && id >= 0)
