/** A tool that a model may call. */
export interface Tool {
  name: string
  description?: string
  /** JSON Schema of its arguments, an object; default: no arguments. */
  parameters?: unknown
  /** Refuses what OpenAI's strict mode refuses. */
  strict?: boolean
  /** The field of a request that has its schema, for errors. */
  field?: string
  /** Whether a message defines it, so that the prompt does not list it again; default: false. */
  isInMessages?: boolean
}

/** The tools of a request. */
export interface ToolUse {
  tools: readonly Tool[]
  /** Whether the model decides, or must call any tool, or a certain one. */
  choice: 'auto' | 'required' | {name: string}
  /** Whether a reply may have several calls. */
  parallel: boolean
}

/** What a request demands of the model's thinking. */
export interface Thinking {
  /** Default: as the chat template does. */
  enabled?: boolean
  /** Maximum tokens; then the thinking is closed. */
  budget?: number
}
