import type {ConversationV1} from '../contracts/index.js'

/** A conversation with a model, as it is saved. */
export type Conversation = ConversationV1

export type Message = Conversation['messages'][number]

/** The system message; undefined if there is none. */
export const systemOf = ({messages}: Conversation): string | undefined =>
  messages[0]?.role === 'system' ? messages[0].content : undefined

const withoutSystem = ({messages}: Conversation) => messages.filter(({role}) => role !== 'system')

/** Replaces the system message; an empty text removes it. */
export function withSystemMessage(conversation: Conversation, text: string): Conversation {
  const opening: Message[] = text === '' ? [] : [{role: 'system', content: text}]
  return {...conversation, messages: [...opening, ...withoutSystem(conversation)]}
}

/** The conversation without its messages, except for the system message. */
export const cleared = (conversation: Conversation): Conversation =>
  withSystemMessage({...conversation, messages: []}, systemOf(conversation) ?? '')

/** Adds a question and the reply. */
export const withTurn = (conversation: Conversation, question: string, reply: Omit<Message, 'role'>): Conversation => ({
  ...conversation,
  messages: [...conversation.messages, {role: 'user', content: question}, {role: 'assistant', ...reply}],
})
