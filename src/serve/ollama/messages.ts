import type {ChatMessage} from '../../text/index.js'
import {definedEntries, type Fields, maxMessages} from '../body.js'
import {readToolCalls} from '../tool-calls.js'

const roles = ['system', 'user', 'assistant', 'tool'] as const

/** @throws bad_request */
export function readMessages(body: Fields): ChatMessage[] {
  const messages = body.objects('messages', {max: maxMessages}) ?? []
  return messages.map((message) => {
    const calls = readToolCalls(message)
    const {tool_calls: hasCalls} = calls
    return {
      role: readRole(message),
      content: message.string('content') ?? (hasCalls === undefined ? '' : null),
      ...definedEntries({
        name: message.string('tool_name') ?? message.string('name'),
        reasoning_content: message.string('thinking'),
        tool_call_id: message.string('tool_call_id'),
      }),
      ...calls,
    }
  })
}

function readRole(message: Fields): ChatMessage['role'] {
  const name = message.string('role')?.toLowerCase()
  const role = roles.find((known) => known === name)
  if (role === undefined) throw message.wrong('role', `be one of ${roles.join(', ')}`)
  return role
}
