import type {GenerateRequest} from '../../llm/index.js'
import {abilitiesFor} from '../abilities.js'
import {definedEntries, Fields, stopBounds} from '../body.js'
import type {RequestDefaults} from '../defaults.js'
import type {DialectRequest} from '../dialect.js'
import {readKeepAlive} from '../keep-alive.js'
import {readFormat, type StatedFormat} from '../reply-format.js'
import {fieldsOf} from '../request-fields.js'
import {readSampling} from '../sampling-fields.js'
import {readEffort, requestedThinking, type StatedThinking} from '../thinking.js'
import {readToolObjects, type StatedTools, toolUse} from '../tools.js'
import {readConversation} from './conversation.js'

/** A request of `/v1/messages`. */
export interface MessagesRequest extends DialectRequest {
  request: GenerateRequest
  /** The stop strings that the request itself states. */
  stopSequences: readonly string[]
  /** Whether blocks of thinking are returned without their text. */
  omitsThinking: boolean
}

/**
 * Reads the body of `POST /v1/messages` or `POST /v1/messages/count_tokens`.
 * @throws bad_request, unsupported_value, body_missing
 */
export function readMessagesRequest(body: unknown, defaults: RequestDefaults): MessagesRequest {
  const fields = Fields.ofBody(body, fieldsOf('/v1/messages'))
  requireKnownEdits(fields)
  const config = fields.object('output_config')
  const {variables, thinking} = requestedThinking(readThinking(fields, config))
  const stopSequences = fields.texts('stop_sequences', stopBounds)
  const tools = new MessageTools(fields)
  const request: GenerateRequest = {
    prompt: {
      kind: 'chat',
      messages: readConversation(fields, (block) => tools.define(block)),
      overflow: 'refuse',
      ...variables,
    },
    maxTokens: fields.integer('max_tokens', {min: 0}) ?? defaults.maxTokens,
    stop: stopSequences ?? defaults.stop,
    sampling: readSampling(fields, defaults),
    // The first event of a stream has the number of tokens of the prompt.
    echo: '',
    ...readFormat(fields, () => readOutputFormat(config)),
    ...definedEntries({thinking, tools: toolUse(fields, tools.stated())}),
  }
  return {
    ...definedEntries({model: fields.string('model') || undefined, keepAlive: readKeepAlive(fields)}),
    stream: fields.boolean('stream') ?? false,
    unknown: fields.unknown,
    request,
    stopSequences: stopSequences ?? [],
    omitsThinking: fields.object('thinking')?.string('display') === 'omitted',
    ...abilitiesFor(request),
  }
}

/** Thoughts of earlier turns are left to the chat template; other edits of the context are refused by the table. */
function requireKnownEdits(fields: Fields): void {
  fields.object('context_management')?.objects('edits')
}

/** Updates are parts of a summary that a client shows while the model works; here, both are what it thinks. */
const displays: readonly string[] = ['summarized', 'updates', 'omitted']

/** A model that does not think ignores it, because agents always send it. */
function readThinking(fields: Fields, config: Fields | undefined): StatedThinking {
  const stated = fields.object('thinking')
  const type = stated?.string('type')
  if (stated !== undefined && type !== 'enabled' && type !== 'disabled' && type !== 'adaptive')
    throw stated.wrong('type', 'be enabled, disabled or adaptive')
  const display = stated?.string('display')
  if (display !== undefined && !displays.includes(display))
    throw (stated as Fields).wrong('display', 'be summarized, updates or omitted')
  const budget = stated?.integer('budget_tokens', {min: 1})
  return {
    enabled: type === undefined ? undefined : type !== 'disabled',
    effort: config && readEffort(config, 'effort'),
    budget: type === 'enabled' ? budget : undefined,
    variables: fields.object('chat_template_kwargs')?.json(),
  }
}

function readOutputFormat(config: Fields | undefined): StatedFormat | undefined {
  const format = config?.object('format')
  if (format === undefined) return undefined
  if (format.string('type') !== 'json_schema') throw format.wrong('type', 'be json_schema')
  const schema = format.schema('schema')
  if (schema === undefined) throw format.wrong('schema', 'be present')
  return [format.param('schema'), {kind: 'schema', schema}]
}

/**
 * The tools of a request. A client that searches tools defers their definitions: the model sees one when the result of the
 * search refers to it. It is written there, so that the beginning of the prompt stays the same and is not computed again.
 */
class MessageTools {
  readonly #fields: Fields
  readonly #all: readonly Fields[]
  readonly #defined = new Set<Fields>()

  constructor(fields: Fields) {
    this.#fields = fields
    this.#all = readToolObjects(fields)
    for (const tool of this.#all)
      if ((tool.string('type') ?? 'custom') !== 'custom')
        throw tool.wrong('type', 'be custom, because this server runs no tools')
  }

  /** The definition of the tool that a block refers to. @throws bad_request */
  define(reference: Fields): string {
    const name = reference.string('tool_name')
    const tool = this.#all.find((other) => other.get('name') === name)
    if (tool === undefined) throw reference.wrong('tool_name', 'be the name of a tool of the request')
    if (isDeferred(tool)) this.#defined.add(tool)
    const parameters = tool.schema('input_schema')
    return JSON.stringify({name, ...definedEntries({description: tool.string('description'), parameters})})
  }

  /** Those that may be called, after the messages have been read. */
  stated(): StatedTools {
    const choice = this.#fields.object('tool_choice')
    return {
      named: this.#all.filter((tool) => !isDeferred(tool) || this.#defined.has(tool)),
      schema: 'input_schema',
      choice: readChoice(choice),
      parallel: choice?.boolean('disable_parallel_tool_use') !== true,
      inMessages: this.#defined,
    }
  }
}

const isDeferred = (tool: Fields): boolean => tool.boolean('defer_loading') === true

function readChoice(choice: Fields | undefined): StatedTools['choice'] {
  switch (choice?.string('type') ?? 'auto') {
    case 'auto':
      return 'auto'
    case 'any':
      return 'required'
    case 'none':
      return 'none'
    case 'tool': {
      const name = choice?.string('name')
      if (name !== undefined) return {name}
      throw (choice as Fields).wrong('name', 'be the name of a tool')
    }
    default:
      throw (choice as Fields).wrong('type', 'be auto, any, tool or none')
  }
}
