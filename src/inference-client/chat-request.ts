/** One message of a conversation. */
export interface ChatMessage {
  role: 'system' | 'user' | 'assistant'
  content: string
}

/** A request for the next message of a conversation. */
export interface ChatRequest {
  model: string
  /** Oldest first. */
  messages: readonly ChatMessage[]
  temperature: number
  topP?: number | undefined
  /** Maximum tokens of the answer. */
  maxTokens: number
  /** Output format: JSON or a JSON schema; not every server supports it. */
  format?: 'json' | Readonly<Record<string, unknown>> | undefined
}
