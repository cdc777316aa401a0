/**
 * What asks a model, loaded by the first who does: who opens the tables of this room alone loads none of it.
 */

type Chat = typeof import('./chat/send-message.js')
type Code = typeof import('./code/generate-code.js')

export const sendMessage: Chat['sendMessage'] = async (...given) =>
  (await import('./chat/send-message.js')).sendMessage(...given)

export const generateCode: Code['generateCode'] = async (...given) =>
  (await import('./code/generate-code.js')).generateCode(...given)
