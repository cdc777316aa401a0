import type {GenerateSummary} from '../llm/index.js'
import type {Conversation} from './conversation.js'

/** A piece of a reply. */
export interface Piece {
  event: 'thinking' | 'text'
  text: string
}

/** The end of a reply. */
export interface ReplyEnd {
  finishReason: 'stop' | 'length'
  promptTokens: number
  completionTokens: number
  /** Of a model in this process. */
  summary?: GenerateSummary
}

/** A model that continues conversations, in this process or on a server. */
export interface ChatModel {
  readonly name: string
  /** Names and values of what is known about it. */
  readonly facts: readonly (readonly [name: string, value: string])[]
  /**
   * Generates the next message. A conversation that does not fit into the context loses its oldest messages.
   * @param question the next message of the user
   * @param print receives the pieces; the next one waits for it
   * @throws the reason of the signal; what the model throws
   */
  reply(
    conversation: Conversation,
    question: string,
    print: (piece: Piece) => Promise<void>,
    signal: AbortSignal,
  ): Promise<ReplyEnd>
  close(): Promise<void>
}
