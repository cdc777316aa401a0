/** A message of a conversation with a language model. */
export interface ModelMessage {
  role: 'system' | 'user' | 'assistant'
  content: string
}

/** Asks a language model for the next message. */
export type AskModel = (
  messages: readonly ModelMessage[],
  parameters: {
    maxTokens: number
    /** If undefined, that of the model's settings. */
    temperature: number | undefined
    /** JSON Schema of the answer; not every server enforces it. */
    format?: Readonly<Record<string, unknown>> | undefined
    signal: AbortSignal
  },
) => Promise<string>

/** Finds the configured language model. Fails if there is none. */
export type ResolveModel = (signal: AbortSignal) => Promise<AskModel>
