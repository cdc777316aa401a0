import {ErrorCodes, Message, type MessageStrategy, type MessageWriter} from 'vscode-languageserver/node'
import type {Lifetime} from './lifetime.js'

/**
 * Refuses what the protocol forbids: requests before `initialize` and after `shutdown`, and a second `initialize`.
 * Notifications outside of a session are dropped, except for `exit`.
 */
export function handshake(writer: MessageWriter, lifetime: Lifetime): MessageStrategy {
  let isInitialized = false
  const refusal = (method: string) => {
    if (lifetime.shutdownReceived)
      return {code: ErrorCodes.InvalidRequest, message: `The server is shutting down; ${method} is refused.`}
    if (method === 'initialize')
      return isInitialized
        ? {code: ErrorCodes.InvalidRequest, message: 'The server is already initialized.'}
        : undefined
    if (isInitialized) return undefined
    return {code: ErrorCodes.ServerNotInitialized, message: `The server is not initialized; ${method} is refused.`}
  }
  return {
    handleMessage: (message, next) => {
      if (Message.isRequest(message)) {
        const {id, method} = message
        const error = refusal(method)
        if (error !== undefined) return writer.write({jsonrpc: '2.0', id, error} as Message)
        isInitialized ||= method === 'initialize' && typeof message.params === 'object'
      } else if (Message.isNotification(message) && message.method !== 'exit' && refusal(message.method) !== undefined)
        return undefined
      return next(message)
    },
  }
}
