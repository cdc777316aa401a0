import {SvcError} from '../../errors/index.js'
import type {ChatMessage, ToolCall} from '../../text/index.js'
import {definedEntries, type Fields, maxMessages} from '../body.js'

/** Blocks of a text are paragraphs. */
const separator = '\n\n'

/** A first block of Claude Code that is not for the model: it names the program, and differs in each request. */
const attribution = /^x-anthropic-billing-header:/

/** Types of blocks that the model cannot read. */
const media: readonly unknown[] = ['image', 'document', 'search_result', 'container_upload']

/**
 * Reads the system prompt and the messages.
 * @param define returns the definition of the tool that a block refers to
 * @throws bad_request, unsupported_value
 */
export function readConversation(body: Fields, define: (reference: Fields) => string): ChatMessage[] {
  const messages = body.objects('messages', {min: 1, max: maxMessages})
  if (messages === undefined) throw body.wrong('messages', 'be present')
  const system = textsOf(body, 'system').filter((text) => !attribution.test(text))
  const names = new Map<string, string>()
  return [
    ...(system.length === 0 ? [] : [{role: 'system' as const, content: system.join(separator)}]),
    ...messages.flatMap((message) => readMessage(message, {names, define})),
  ]
}

interface KnownTools {
  /** Names of the tools by the ids of their calls. */
  names: Map<string, string>
  define(reference: Fields): string
}

function readMessage(message: Fields, known: KnownTools): ChatMessage[] {
  const role = message.string('role')
  if (message.get('content') === undefined) throw message.wrong('content', 'be present')
  switch (role) {
    case 'system':
      return [{role, content: textsOf(message, 'content').join(separator)}]
    case 'user':
      return readUser(message, known)
    case 'assistant':
      return [readAssistant(message, known)]
    default:
      throw message.wrong('role', 'be user, assistant or system')
  }
}

/**
 * The texts of a field: a string, or a list of blocks of text.
 * @param define if blocks may refer to tools
 */
function textsOf(fields: Fields, name: string, define?: (reference: Fields) => string): string[] {
  const value = fields.get(name)
  if (value === undefined || value === '') return []
  if (typeof value === 'string') return [value]
  if (!Array.isArray(value)) throw fields.wrong(name, 'be of type string or list of blocks')
  return (fields.objects(name) ?? []).map((block) => {
    if (block.get('type') === 'text') return textOf(block)
    if (define !== undefined && block.get('type') === 'tool_reference') return define(block)
    throw unreadable(block, define === undefined ? 'be text' : 'be text or tool_reference')
  })
}

const textOf = (block: Fields): string => required(block, 'text')

function required(block: Fields, name: string): string {
  const value = block.string(name)
  if (value === undefined) throw block.wrong(name, 'be present')
  return value
}

/** An error about the type of a block. */
function unreadable(block: Fields, must: string): SvcError {
  const type = block.get('type')
  if (!media.includes(type)) return block.wrong('type', must)
  return new SvcError('unsupported_value', {
    reason: `this server does not support blocks of type ${String(type)} (${block.param('type')} must be text)`,
    param: block.param('type'),
  })
}

/** Results of tools become messages of their own; the other blocks stay in order. */
function readUser(message: Fields, {names, define}: KnownTools): ChatMessage[] {
  if (typeof message.get('content') === 'string') return [{role: 'user', content: textsOf(message, 'content').join('')}]
  const read: ChatMessage[] = []
  let texts: string[] = []
  const flush = () => {
    if (texts.length > 0) read.push({role: 'user', content: texts.join(separator)})
    texts = []
  }
  for (const block of message.objects('content') ?? [])
    switch (block.get('type')) {
      case 'text':
        texts.push(textOf(block))
        break
      case 'tool_result': {
        flush()
        const id = required(block, 'tool_use_id')
        const content = textsOf(block, 'content', define).join(separator)
        block.boolean('is_error')
        read.push({role: 'tool', content, ...definedEntries({name: names.get(id)}), tool_call_id: id})
        break
      }
      default:
        throw unreadable(block, 'be text or tool_result')
    }
  flush()
  return read.length === 0 ? [{role: 'user', content: ''}] : read
}

function readAssistant(message: Fields, {names}: KnownTools): ChatMessage {
  if (typeof message.get('content') === 'string')
    return {role: 'assistant', content: textsOf(message, 'content').join('')}
  const [texts, thoughts, calls]: [string[], string[], ToolCall[]] = [[], [], []]
  for (const block of message.objects('content') ?? [])
    switch (block.get('type')) {
      case 'text':
        texts.push(textOf(block))
        break
      case 'thinking':
        thoughts.push(required(block, 'thinking'))
        break
      // What another server has hidden cannot be read.
      case 'redacted_thinking':
        break
      case 'tool_use': {
        const [id, name] = [required(block, 'id'), required(block, 'name')]
        names.set(id, name)
        calls.push({id, type: 'function', function: {name, arguments: block.object('input')?.json() ?? {}}})
        break
      }
      default:
        throw unreadable(block, 'be text, thinking, redacted_thinking or tool_use')
    }
  const reasoning = thoughts.filter((text) => text !== '').join(separator)
  return {
    role: 'assistant',
    content: texts.length === 0 && calls.length > 0 ? null : texts.join(separator),
    ...(reasoning === '' ? {} : {reasoning_content: reasoning}),
    ...(calls.length === 0 ? {} : {tool_calls: calls}),
  }
}
