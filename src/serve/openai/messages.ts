import type {ChatMessage} from '../../text/index.js'
import {type Fields, maxMessages} from '../body.js'
import {refuseUnsupported, unsupportedInMessages, unsupportedInParts} from './unsupported.js'

const roles: ReadonlyMap<string, ChatMessage['role']> = new Map([
  ['developer', 'system'],
  ['system', 'system'],
  ['user', 'user'],
  ['assistant', 'assistant'],
])

/** @throws bad_request, unsupported_value */
export function readMessages(body: Fields): ChatMessage[] {
  const messages = body.objects('messages', {min: 1, max: maxMessages})
  if (messages === undefined) throw body.wrong('messages', 'be present')
  return messages.map((message) => {
    refuseUnsupported(message, unsupportedInMessages)
    return {role: readRole(message), content: readContent(message)}
  })
}

function readRole(message: Fields): ChatMessage['role'] {
  const role = roles.get(message.string('role') ?? '')
  if (role === undefined) throw message.wrong('role', `be one of ${[...roles.keys()].join(', ')}`)
  return role
}

/** A string, or a list of text parts. */
function readContent(message: Fields): string {
  const content = message.get('content')
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) throw message.wrong('content', 'be of type string or list of parts')
  return (message.objects('content') ?? []).map(readPart).join('')
}

function readPart(part: Fields): string {
  refuseUnsupported(part, unsupportedInParts)
  if (part.get('type') !== 'text') throw part.wrong('type', 'be text')
  const text = part.string('text')
  if (text === undefined) throw part.wrong('text', 'be present')
  return text
}
