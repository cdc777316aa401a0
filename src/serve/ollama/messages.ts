import type {ChatMessage} from '../../text/index.js'
import {type Fields, mostMessages} from '../body.js'
import {refuseUnsupported, unsupportedInMessages} from './unsupported.js'

const roles = ['system', 'user', 'assistant'] as const

/** @throws bad_request */
export function readMessages(body: Fields): ChatMessage[] {
  const messages = body.objects('messages', {max: mostMessages}) ?? []
  return messages.map((message) => {
    refuseUnsupported(message, unsupportedInMessages)
    // Templates leave out what was thought in earlier turns, so it is checked and dropped.
    message.string('thinking')
    return {role: readRole(message), content: message.string('content') ?? ''}
  })
}

function readRole(message: Fields): ChatMessage['role'] {
  const written = message.string('role')?.toLowerCase()
  const role = roles.find((known) => known === written)
  if (role === undefined) throw message.wrong('role', `be one of ${roles.join(', ')}`)
  return role
}
