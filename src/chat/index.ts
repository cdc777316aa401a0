/**
 * Conversations with a language model in this process or on a server: messages, parameters, the commands that a user types,
 * and saved conversations.
 */
export type {ChatModel, Piece, ReplyEnd} from './chat-model.js'
export {type Conversation, withSystemMessage, withTurn} from './conversation.js'
export {localModel} from './local-model.js'
export {remoteModel} from './remote-model.js'
export {isSlashCommand, readFormat, runSlashCommand} from './slash-commands.js'
