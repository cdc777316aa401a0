/**
 * Functions that ask a model, loaded with the first call: opening the tables alone loads none of them.
 */

type Chat = typeof import('./chat/send-message.js')
type Code = typeof import('./code/generate-code.js')

export const sendMessage: Chat['sendMessage'] = async (...given) =>
  (await import('./chat/send-message.js')).sendMessage(...given)

export const generateCode: Code['generateCode'] = async (...given) =>
  (await import('./code/generate-code.js')).generateCode(...given)
