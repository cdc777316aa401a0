import type {ChatMessage} from '../../text/index.js'
import {type Fields, maxMessages} from '../body.js'
import {refuseUnsupported, unsupportedInMessages} from './unsupported.js'

const roles = ['system', 'user', 'assistant'] as const

/** @throws bad_request */
export function readMessages(body: Fields): ChatMessage[] {
  const messages = body.objects('messages', {max: maxMessages}) ?? []
  return messages.map((message) => {
    refuseUnsupported(message, unsupportedInMessages)
    // Chat templates omit the thinking of earlier turns, so it is validated and dropped.
    message.string('thinking')
    return {role: readRole(message), content: message.string('content') ?? ''}
  })
}

function readRole(message: Fields): ChatMessage['role'] {
  const name = message.string('role')?.toLowerCase()
  const role = roles.find((known) => known === name)
  if (role === undefined) throw message.wrong('role', `be one of ${roles.join(', ')}`)
  return role
}
