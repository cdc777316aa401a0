/** A message of a conversation with a language model. */
export interface ModelMessage {
  role: 'system' | 'user' | 'assistant'
  content: string
}

/** Asks a language model for the next message. @param parameters undefined temperature: that of the model's settings */
export type AskModel = (
  messages: readonly ModelMessage[],
  parameters: {maxTokens: number; temperature: number | undefined; signal: AbortSignal},
) => Promise<string>

/** Finds the configured language model. Fails if there is none. */
export type ResolveModel = (signal: AbortSignal) => Promise<AskModel>
