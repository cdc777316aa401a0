import {SvcError} from '../../errors/index.js'
import type {ChatMessage} from '../../text/index.js'
import {definedEntries, type Fields, maxMessages} from '../body.js'
import {readArguments} from '../tool-calls.js'

/** Types of parts that the model cannot read. */
const media: readonly unknown[] = ['input_image', 'input_file', 'input_audio', 'input_video']

/**
 * Reads `instructions` and `input`.
 * @throws bad_request, unsupported_value
 */
export function readInput(body: Fields): ChatMessage[] {
  const instructions = body.string('instructions') ?? ''
  const opening: ChatMessage[] = instructions === '' ? [] : [{role: 'system', content: instructions}]
  const input = body.get('input')
  if (isProbe(body)) return [...opening, {role: 'user', content: '\n'}]
  if (typeof input === 'string') return [...opening, {role: 'user', content: input}]
  if (!Array.isArray(input)) throw body.wrong('input', 'be of type string or list of items')
  const reader = new ItemReader()
  for (const item of body.objects('input', {min: 1, max: maxMessages}) ?? []) reader.read(item)
  return [...opening, ...reader.messages]
}

/** Whether a client asks for one token without any input, to see whether the model answers. */
function isProbe(body: Fields): boolean {
  const input = body.get('input') ?? ''
  return body.get('max_output_tokens') === 1 && (input === '' || (Array.isArray(input) && input.length === 0))
}

/** Reads items. The reasoning, the text and the calls of a turn of the assistant become one message. */
class ItemReader {
  readonly messages: ChatMessage[] = []
  /** Names of functions by the ids of their calls. */
  readonly #names = new Map<string, string>()
  /** The message of the assistant that further items may belong to. */
  #turn: ChatMessage | undefined

  read(item: Fields): void {
    switch (item.string('type') ?? 'message') {
      case 'message':
        this.#message(item)
        return
      case 'reasoning':
        this.#reasoning(item)
        return
      case 'function_call':
        this.#call(item)
        return
      case 'function_call_output':
        this.#output(item)
        return
      case 'item_reference':
        throw new SvcError('unsupported_value', {
          reason: `this server stores no items (${item.param('type')} must not be item_reference)`,
          param: item.param('type'),
        })
      default:
        throw item.wrong('type', 'be message, reasoning, function_call or function_call_output')
    }
  }

  #message(item: Fields): void {
    const role = item.string('role')
    const content = readContent(item, 'content')
    if (role === 'assistant') {
      // Without calls, a second text is a second turn.
      if (this.#turn === undefined || this.#turn.content !== null || this.#turn.tool_calls !== undefined) this.#begin()
      this.#extend({content})
      return
    }
    if (role !== 'user' && role !== 'system' && role !== 'developer')
      throw item.wrong('role', 'be user, assistant, system or developer')
    this.#add({role: role === 'user' ? 'user' : 'system', content})
  }

  /** What the model thought, or a summary of it. What another server has encrypted cannot be read. */
  #reasoning(item: Fields): void {
    const [content, summary] = ['content', 'summary'].map((name) =>
      (item.objects(name) ?? []).map((part) => textOf(part)).join('\n\n'),
    )
    const text = content || summary || ''
    this.#begin()
    if (text !== '') this.#extend({reasoning_content: text})
  }

  #call(item: Fields): void {
    const [id, name] = [required(item, 'call_id'), required(item, 'name')]
    required(item, 'arguments')
    this.#names.set(id, name)
    const call = {id, type: 'function' as const, function: {name, arguments: readArguments(item)}}
    if (this.#turn === undefined) this.#begin()
    this.#extend({tool_calls: [...(this.#turn?.tool_calls ?? []), call]})
  }

  #output(item: Fields): void {
    const id = required(item, 'call_id')
    const content = readContent(item, 'output')
    this.#add({role: 'tool', content, ...definedEntries({name: this.#names.get(id)}), tool_call_id: id})
  }

  #add(message: ChatMessage): void {
    this.#turn = undefined
    this.messages.push(message)
  }

  #begin(): void {
    this.#add({role: 'assistant', content: null})
    this.#turn = this.messages.at(-1)
  }

  #extend(part: Partial<ChatMessage>): void {
    this.#turn = {...(this.#turn as ChatMessage), ...part}
    this.messages[this.messages.length - 1] = this.#turn
  }
}

function required(item: Fields, name: string): string {
  const value = item.string(name)
  if (value === undefined) throw item.wrong(name, 'be present')
  return value
}

/** A string, or a list of text parts. */
function readContent(item: Fields, name: string): string {
  const content = item.get(name)
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) throw item.wrong(name, 'be of type string or list of parts')
  return (item.objects(name) ?? []).map(readPart).join('')
}

function readPart(part: Fields): string {
  const type = part.get('type')
  if (media.includes(type))
    throw new SvcError('unsupported_value', {
      reason: `only parts with text are supported, not ${String(type)}`,
      param: part.param('type'),
    })
  if (type === 'input_text' || type === 'output_text') return textOf(part)
  if (type === 'refusal') return required(part, 'refusal')
  throw part.wrong('type', 'be input_text, output_text or refusal')
}

const textOf = (part: Fields): string => required(part, 'text')
