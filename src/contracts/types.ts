// Generated from contracts/ by `npm run contracts`. Do not edit.

/**
 * What a failed command prints on standard output under --json.
 */
export interface CliErrorV1 {
  error: {
    /**
     * Stable code of the error.
     */
    code: string
    /**
     * What is wrong, and where.
     */
    message: string
    /**
     * What to do about it.
     */
    remediation: string
    /**
     * Exit status of the command.
     */
    exit: 1 | 2 | 3 | 4 | 5 | 130 | 143
  }
}

/**
 * Result of svc generate --json.
 */
export interface GenerateV1 {
  /**
   * Name of the model: the last component of its directory.
   */
  model: string
  /**
   * The generated text, without the prompt and without stop text.
   */
  text: string
  /**
   * stop: an end token or a stop string; length: max tokens, or the end of the context.
   */
  finish_reason: 'stop' | 'length'
  /**
   * Seed that gives the same text again.
   */
  seed: number
  prompt_tokens: number
  completion_tokens: number
  timings: {
    /**
     * From the start of loading to a model that is ready.
     */
    load_ms: number
    /**
     * From the request to the first token.
     */
    prefill_ms: number
    /**
     * From the first token to the last.
     */
    decode_ms: number
    /**
     * Null with fewer than two tokens.
     */
    decode_tokens_per_second: number | null
  }
}

export type Source = 'flag' | 'env' | 'file' | 'default'

/**
 * Result of svc config show --json.
 */
export interface ConfigShowV1 {
  /**
   * Root of the workspace.
   */
  root: string
  /**
   * The Svc.toml that was read.
   */
  file: string | null
  /**
   * The value in force of each; null when unset, "(set)" for a secret.
   */
  settings: {
    name: string
    value: unknown
    origin: Origin
    /**
     * Sources that also gave a value and lost, the strongest first.
     */
    overridden: {
      source: Source
      name?: string
      value: unknown
    }[]
    env: string[]
    toml: string[]
    takes: string
    doc: string
  }[]
  warnings: Warning[]
}
export interface Origin {
  source: Source
  name?: string
}
export interface Warning {
  code: string
  subject: string
  message: string
}

/**
 * Result of svc config check --json.
 */
export interface ConfigCheckV1 {
  ok: true
  /**
   * Root of the workspace.
   */
  root: string
  /**
   * The Svc.toml that was read.
   */
  file: string | null
  warnings: {
    code: string
    subject: string
    message: string
  }[]
}

/**
 * Result of svc contracts list --json.
 */
export type ContractsListV1 = {
  id: string
  /**
   * Absolute path of the schema.
   */
  file: string
  summary: string
  aliases: string[]
}[]

/**
 * Result of svc contracts validate --json, when all is well.
 */
export interface ContractsValidateV1 {
  ok: true
  /**
   * Null when the contracts themselves were checked.
   */
  contract: string | null
  documents: string[]
}

/**
 * The hand-off file external_serving_handoff_v1.json: what an external runtime needs to serve an artifact.
 */
export interface ExternalServingHandoffV1 {
  schema: 'svc_external_serving_handoff_v1'
  schema_version: 1
  backend_family: 'vllm' | 'ollama' | 'hf-transformers' | 'openai-compatible' | 'other'
  base_model: string
  /**
   * Path of tokenizer.json, or where to find it.
   */
  tokenizer_source: string
  /**
   * Folder that holds the artifact.
   */
  artifact_dir: string
  /**
   * How a chat becomes a prompt.
   */
  prompt_format: string
  adapter_path?: string | null
  openai_base_url?: string | null
  notes?: string | null
}
