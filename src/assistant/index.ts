/**
 * Conversations with a model about the workspace, and generation of checked programs of the data language. Loading this
 * module loads only the table definitions; the inference client, the data language and the chat and code parts are
 * loaded on first use.
 */
import type {sendMessage as SendMessage} from './chat/send-message.js'
import type {generateCode as GenerateCode} from './code/generate-code.js'
import type {checkPath as CheckPath} from './files/check-path.js'
import type {fixFile as FixFile} from './files/fix.js'
import type {generateText as GenerateText} from './files/generate-text.js'
import type {reviewFile as ReviewFile} from './files/review.js'

export {
  type Assistant,
  type AssistantPorts,
  type ModelUsage,
  openAssistant,
  type Work,
  type Workspace,
} from './assistant.js'
export {
  type ConversationSummary,
  type Conversations,
  conversationState,
  listConversations,
  readConversation,
  readTurns,
  type Turn,
} from './chat/conversations.js'
export {type Journey, traceOf} from './chat/journey.js'
export type {MessageRequest} from './chat/request.js'
export type {Hooks, MessageAnswer} from './chat/send-message.js'
export type {CodeHooks, CodeOutcome, CodeRequest} from './code/generate-code.js'
export type {CodeFinding} from './code/judge.js'
export type {CodeSurface, FailureCategory} from './code/report.js'
export type {SurfaceMode} from './code/surface.js'
export type {PathCheck} from './files/check-path.js'
export type {CheckMode} from './files/check-text.js'
export type {Fix} from './files/fix.js'
export {assistantFragment} from './schema.js'
export type {AssistantTools, UsedTool} from './tool-rounds.js'

export const sendMessage: typeof SendMessage = async (...options) =>
  (await import('./chat/send-message.js')).sendMessage(...options)

export const generateCode: typeof GenerateCode = async (...options) =>
  (await import('./code/generate-code.js')).generateCode(...options)

export const checkPath: typeof CheckPath = async (...options) =>
  (await import('./files/check-path.js')).checkPath(...options)

export const reviewFile: typeof ReviewFile = async (...options) =>
  (await import('./files/review.js')).reviewFile(...options)

export const fixFile: typeof FixFile = async (...options) => (await import('./files/fix.js')).fixFile(...options)

export const generateText: typeof GenerateText = async (...options) =>
  (await import('./files/generate-text.js')).generateText(...options)
