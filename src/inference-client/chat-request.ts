/** One message of a conversation. */
export interface ChatMessage {
  role: 'system' | 'user' | 'assistant' | 'tool'
  content: string
  /** Tools that the assistant called. */
  calls?: readonly ToolCall[] | undefined
  /** The call whose result the message is. */
  call?: ToolCall | undefined
  /** What the model thought; sent only to servers of the Ollama API. */
  thinking?: string | undefined
}

/** A tool that a model may call. */
export interface ChatTool {
  name: string
  description: string
  /** JSON Schema of its arguments. */
  parameters: JsonSchema
}

/** A call of a tool by a model. */
export interface ToolCall {
  id?: string | undefined
  name: string
  arguments: Readonly<Record<string, unknown>>
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
  /** What the answer must match: a JSON object or a JSON Schema. To servers without the Ollama API, only `json` is sent. */
  format?: 'json' | JsonSchema | undefined
  /**
   * Regular expression of ECMA 262 that the whole answer must match, instead of a format. `svc serve` enforces it; other
   * servers of the Ollama API ignore it, and to others it is not sent.
   */
  pattern?: string | undefined
  /** Tools that the model may call instead of an answer. */
  tools?: readonly ChatTool[] | undefined
  /** Further options, and whether the model thinks; only for servers of the Ollama API. */
  options?: Readonly<Record<string, unknown>> | undefined
  think?: boolean | undefined
}

export type JsonSchema = Readonly<Record<string, unknown>>

/** JSON Schema of any JSON value. Servers differ in the meaning of a schema without a type. */
export const anyJson: JsonSchema = {type: ['object', 'array', 'string', 'number', 'boolean', 'null']}
