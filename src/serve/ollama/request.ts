import {SvcError} from '../../errors/index.js'
import type {GenerateRequest, Prompt} from '../../llm/index.js'
import type {ChatMessage} from '../../text/index.js'
import {Fields, given} from '../body.js'
import {type KeepAlive, readKeepAlive} from '../keep-alive.js'
import {readMessages} from './messages.js'
import {type OllamaDefaults, readOptions} from './options.js'
import {refuseUnsupported, unsupportedByChat, unsupportedByGenerate} from './unsupported.js'

/** What `/api/generate` and `/api/chat` ask for. */
export interface OllamaRequest {
  /** As the client wrote it; absent asks for the served model. */
  model?: string
  stream: boolean
  keepAlive?: KeepAlive
  /** There is nothing to generate: the model is to be loaded, or with a `keepAlive` of 0 unloaded. */
  load: boolean
  /** As asked for: the model may have less. */
  numCtx: number
  /** Names of options that nobody knows, for the log. */
  ignoredOptions: readonly string[]
  request: GenerateRequest
}

/**
 * Reads the body of `POST /api/generate`.
 * @throws bad_request, body_missing
 */
export function readGenerate(body: unknown, defaults: OllamaDefaults): OllamaRequest {
  const fields = Fields.ofBody(body)
  const prompt = readPrompt(fields)
  refuseUnsupported(fields, unsupportedByGenerate)
  return {...readCommon(fields, prompt, defaults), load: (fields.string('prompt') ?? '') === ''}
}

/**
 * Reads the body of `POST /api/chat`.
 * @throws bad_request, body_missing
 */
export function readChat(body: unknown, defaults: OllamaDefaults): OllamaRequest {
  const fields = Fields.ofBody(body)
  refuseUnsupported(fields, unsupportedByChat)
  const messages = readMessages(fields)
  const overflow = fields.boolean('truncate') === false ? 'refuse' : 'drop_oldest'
  return {...readCommon(fields, {kind: 'chat', messages, overflow}, defaults), load: messages.length === 0}
}

/** The prompt is the one turn of a user, unless it is raw. */
function readPrompt(fields: Fields): Prompt {
  const text = fields.string('prompt') ?? ''
  const system = fields.string('system') ?? ''
  const context = fields.integers('context', {min: 0}) ?? []
  fields.boolean('truncate')
  if (fields.boolean('raw') === true) {
    if (system !== '' || context.length > 0 || (fields.string('template') ?? '') !== '')
      throw new SvcError('bad_request', {
        reason: 'raw mode does not support template, system, or context',
        param: 'raw',
      })
    return {kind: 'raw', text}
  }
  const opening: ChatMessage[] = system === '' ? [] : [{role: 'system', content: system}]
  return {
    kind: 'chat',
    messages: [...opening, {role: 'user', content: text}],
    overflow: 'refuse',
    ...given({context: context.length === 0 ? undefined : context}),
  }
}

function readCommon(fields: Fields, prompt: Prompt, defaults: OllamaDefaults): Omit<OllamaRequest, 'load'> {
  const {sampling, maxTokens, stop, numCtx, ignored} = readOptions(fields, defaults)
  fields.boolean('shift')
  return {
    ...given({model: readModel(fields), keepAlive: readKeepAlive(fields)}),
    stream: fields.boolean('stream') ?? true,
    numCtx,
    ignoredOptions: ignored,
    request: {prompt, maxTokens, stop, sampling, ...given({topLogprobs: readTopLogprobs(fields)})},
  }
}

const readModel = (fields: Fields): string | undefined => fields.string('model') || undefined

/** `top_logprobs` says nothing without `logprobs`. */
function readTopLogprobs(fields: Fields): number | undefined {
  const count = fields.integer('top_logprobs', {min: 0, max: 20}) ?? 0
  return fields.boolean('logprobs') === true ? count : undefined
}
