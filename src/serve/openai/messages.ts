import {SvcError} from '../../errors/index.js'
import type {ChatMessage} from '../../text/index.js'
import {definedEntries, type Fields, maxMessages} from '../body.js'
import {readToolCalls} from '../tool-calls.js'

const roles: ReadonlyMap<string, ChatMessage['role']> = new Map([
  ['developer', 'system'],
  ['system', 'system'],
  ['user', 'user'],
  ['assistant', 'assistant'],
  ['tool', 'tool'],
])

/** @throws bad_request, unsupported_value */
export function readMessages(body: Fields): ChatMessage[] {
  const messages = body.objects('messages', {min: 1, max: maxMessages})
  if (messages === undefined) throw body.wrong('messages', 'be present')
  return messages.map((message) => {
    const calls = readToolCalls(message)
    const reasoning = message.string('reasoning_content') ?? message.string('reasoning')
    return {
      role: readRole(message),
      content: readContent(message, calls.tool_calls !== undefined),
      ...definedEntries({
        name: message.string('name'),
        reasoning_content: reasoning,
        tool_call_id: message.string('tool_call_id'),
      }),
      ...calls,
    }
  })
}

function readRole(message: Fields): ChatMessage['role'] {
  const role = roles.get(message.string('role') ?? '')
  if (role === undefined) throw message.wrong('role', `be one of ${[...roles.keys()].join(', ')}`)
  return role
}

/** A string, or a list of text parts; null only with tool calls. */
function readContent(message: Fields, isOptional: boolean): string | null {
  const content = message.get('content')
  if (typeof content === 'string') return content
  if (content === undefined && isOptional) return null
  if (!Array.isArray(content)) throw message.wrong('content', 'be of type string or list of parts')
  return (message.objects('content') ?? []).map(readPart).join('')
}

const mediaTypes: readonly unknown[] = ['image_url', 'input_audio', 'file']

function readPart(part: Fields): string {
  const type = part.get('type')
  if (mediaTypes.includes(type))
    throw new SvcError('unsupported_value', {
      reason: 'only text parts are supported, not image_url, input_audio or file',
      param: part.param('type'),
    })
  if (type !== 'text') throw part.wrong('type', 'be text')
  const text = part.string('text')
  if (text === undefined) throw part.wrong('text', 'be present')
  return text
}
