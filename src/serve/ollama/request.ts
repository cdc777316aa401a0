import {SvcError} from '../../errors/index.js'
import type {GenerateRequest, Prompt} from '../../llm/index.js'
import type {ChatMessage} from '../../text/index.js'
import {abilitiesFor} from '../abilities.js'
import {definedEntries, Fields} from '../body.js'
import type {RequestDefaults} from '../defaults.js'
import type {DialectRequest} from '../dialect.js'
import {readKeepAlive} from '../keep-alive.js'
import {readFormat, readOllamaFormat} from '../reply-format.js'
import {fieldsOf} from '../request-fields.js'
import {type RequestedThinking, readThinking} from '../thinking.js'
import {readTools} from '../tools.js'
import {readMessages} from './messages.js'
import {readOptions} from './options.js'

/** A request of `/api/generate` or `/api/chat`. */
export interface OllamaRequest extends DialectRequest {
  /** The request has no prompt: it loads the model, or unloads it with a `keepAlive` of 0. */
  load: boolean
  /** As requested; the context length of the model may be smaller. */
  numCtx: number
  request: GenerateRequest
}

/**
 * Reads the body of `POST /api/generate`.
 * @throws bad_request, body_missing
 */
export function readGenerate(body: unknown, defaults: RequestDefaults): OllamaRequest {
  const fields = Fields.ofBody(body, fieldsOf('/api/generate'))
  const thinking = readThinking(fields)
  const prompt = readPrompt(fields, thinking)
  const load = prompt.kind !== 'insertion' && (fields.string('prompt') ?? '') === ''
  return {...readCommon(fields, prompt, thinking, defaults), load}
}

/**
 * Reads the body of `POST /api/chat`.
 * @throws bad_request, body_missing
 */
export function readChat(body: unknown, defaults: RequestDefaults): OllamaRequest {
  const fields = Fields.ofBody(body, fieldsOf('/api/chat'))
  const messages = readMessages(fields)
  const overflow = fields.boolean('truncate') === false ? 'refuse' : 'drop_oldest'
  const thinking = readThinking(fields)
  const prompt: Prompt = {kind: 'chat', messages, overflow, ...thinking.variables}
  return {...readCommon(fields, prompt, thinking, defaults), load: messages.length === 0}
}

/** The prompt becomes a single user message, unless it is raw or has a suffix. */
function readPrompt(fields: Fields, {variables}: RequestedThinking): Prompt {
  const text = fields.string('prompt') ?? ''
  const system = fields.string('system') ?? ''
  const context = fields.integers('context', {min: 0}) ?? []
  const suffix = fields.string('suffix') ?? ''
  const isRaw = fields.boolean('raw') === true
  if (isRaw || suffix !== '') {
    const thinks = (fields.get('think') ?? false) !== false
    if (system !== '' || context.length > 0 || thinks || fields.get('chat_template_kwargs') !== undefined)
      throw new SvcError('bad_request', {
        reason: `${isRaw ? 'raw mode' : 'suffix'} does not support template, system, context, think, or chat_template_kwargs`,
        param: isRaw ? 'raw' : 'suffix',
      })
    if (isRaw && suffix !== '') throw fields.wrong('suffix', 'be omitted in raw mode')
    return isRaw ? {kind: 'raw', text} : {kind: 'insertion', text, suffix}
  }
  const opening: ChatMessage[] = system === '' ? [] : [{role: 'system', content: system}]
  return {
    kind: 'chat',
    messages: [...opening, {role: 'user', content: text}],
    overflow: 'refuse',
    ...definedEntries({context: context.length === 0 ? undefined : context}),
    ...variables,
  }
}

function readCommon(
  fields: Fields,
  prompt: Prompt,
  {thinking, isRequired: thinks}: RequestedThinking,
  defaults: RequestDefaults,
): Omit<OllamaRequest, 'load'> {
  const {sampling, maxTokens, stop, numCtx, unknown} = readOptions(fields, defaults)
  const request: GenerateRequest = {
    prompt,
    maxTokens,
    stop,
    sampling,
    ...readFormat(fields, readOllamaFormat),
    ...definedEntries({topLogprobs: readTopLogprobs(fields), thinking, tools: readTools(fields)}),
  }
  return {
    ...definedEntries({model: readModel(fields), keepAlive: readKeepAlive(fields)}),
    stream: fields.boolean('stream') ?? true,
    numCtx,
    unknown: [...fields.unknown, ...unknown],
    request,
    ...abilitiesFor(request, {thinks}),
  }
}

const readModel = (fields: Fields): string | undefined => fields.string('model') || undefined

/** `top_logprobs` has no effect without `logprobs`. */
function readTopLogprobs(fields: Fields): number | undefined {
  const count = fields.integer('top_logprobs', {min: 0, max: 20}) ?? 0
  return fields.boolean('logprobs') === true ? count : undefined
}
