import type {GenerateRequest} from '../../llm/index.js'
import type {ChatMessage} from '../../text/index.js'
import {abilitiesFor} from '../abilities.js'
import {definedEntries, Fields, stopBounds} from '../body.js'
import type {RequestDefaults} from '../defaults.js'
import type {DialectRequest} from '../dialect.js'
import {readFormat, readResponseFormat} from '../reply-format.js'
import {fieldsOf} from '../request-fields.js'
import {readMaxTokens, readSampling} from '../sampling-fields.js'
import {readThinking} from '../thinking.js'
import {readTools} from '../tools.js'
import {type Delivery, readDelivery} from './delivery.js'
import {readMessages} from './messages.js'

/** A request of `/v1/chat/completions` or `/v1/completions`. */
export interface OpenAiRequest extends DialectRequest, Delivery {
  /** One request per prompt. */
  requests: readonly GenerateRequest[]
}

/**
 * Reads the body of `POST /v1/chat/completions`.
 * @throws bad_request, unsupported_value, body_missing
 */
export function readChatCompletion(body: unknown, defaults: RequestDefaults): OpenAiRequest {
  const fields = Fields.ofBody(body, fieldsOf('/v1/chat/completions'))
  const messages = readMessages(fields)
  requireContinuation(fields, messages)
  const {variables, thinking, isRequired: thinks} = readThinking(fields)
  const tools = readTools(fields)
  const request: GenerateRequest = {
    prompt: {kind: 'chat', messages, overflow: 'refuse', ...variables},
    maxTokens: readMaxTokens(fields, ['max_completion_tokens', 'max_tokens'], 1, defaults),
    stop: fields.texts('stop', stopBounds) ?? defaults.stop,
    sampling: readSampling(fields, defaults),
    ...readFormat(fields, readResponseFormat),
    ...definedEntries({topLogprobs: readTopLogprobs(fields), thinking, tools}),
  }
  return {...readDelivery(fields), requests: [request], ...abilitiesFor(request, {thinks})}
}

function readTopLogprobs(fields: Fields): number | undefined {
  const count = fields.integer('top_logprobs', {min: 0, max: 20}) ?? 0
  if (fields.boolean('logprobs') === true) return count
  if (count > 0) throw fields.wrong('top_logprobs', 'be used with logprobs: true')
  return undefined
}

/** A last message of the assistant is continued; the fields of vLLM for that may only say the same. */
function requireContinuation(fields: Fields, messages: readonly ChatMessage[]): void {
  const continues = messages.at(-1)?.role === 'assistant'
  const last = continues ? 'if the last message is from the assistant' : 'unless the last message is from the assistant'
  if ((fields.boolean('continue_final_message') ?? continues) !== continues)
    throw fields.wrong('continue_final_message', `be ${continues} ${last}`)
  if ((fields.boolean('add_generation_prompt') ?? !continues) === continues)
    throw fields.wrong('add_generation_prompt', `be ${!continues} ${last}`)
}
