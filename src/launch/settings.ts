import {stringify} from 'yaml'

/** The server and the model that a program uses. */
export interface Target {
  /** Without `/v1`. */
  baseUrl: string
  /** By the name that the server lists. */
  model: string
  /** Tokens; undefined if it is not known. */
  contextLength: number | undefined
}

/** What a program reads when it starts. Nothing of it is stored in a file of the user. */
export interface ProgramSettings {
  /** Variables that would lead the program to another server. */
  unset: readonly string[]
  env: Readonly<Record<string, string>>
  /** Variables that contain the API key. The other settings only name `keyVariable`. */
  keys: readonly string[]
  args: readonly string[]
  /** A file that exists as long as the program runs; its path follows `args`. */
  file?: {name: string; text: string}
}

/** The variables of every program, which its commands of `svc` read: the API key, and the address of the server. */
export const keyVariable = 'SVC_INFERENCE_API_KEY'
export const addressVariable = 'SVC_INFERENCE_URL'

/** Local models read long prompts slowly, ms. */
const requestTimeoutMs = 3_600_000

/** Claude Code raises a smaller window to this one, tokens. */
const minWindow = 100_000
/** What Claude Code keeps free for a reply before it applies a percentage, tokens. */
const reservedReply = 20_000

/**
 * Variables that let Claude Code summarize a conversation before it exceeds the context, at three quarters of a small one. It
 * takes an unknown model for one with a long context.
 */
function compaction(contextLength: number): Record<string, string> {
  if (contextLength >= minWindow) return {CLAUDE_CODE_AUTO_COMPACT_WINDOW: String(contextLength)}
  const percentage = Math.max(1, Math.floor((75 * contextLength) / (minWindow - reservedReply)))
  return {
    CLAUDE_CODE_AUTO_COMPACT_WINDOW: String(minWindow),
    CLAUDE_AUTOCOMPACT_PCT_OVERRIDE: String(percentage),
  }
}

/**
 * Claude Code: https://code.claude.com/docs/en/env-vars. Its attribution header changes with each request, and is part of the
 * prompt: without it, the server reads only what is new in a prompt.
 */
export const claudeSettings = ({baseUrl, model, contextLength}: Target): ProgramSettings => ({
  unset: ['ANTHROPIC_API_KEY', 'CLAUDE_CODE_USE_BEDROCK', 'CLAUDE_CODE_USE_VERTEX', 'CLAUDE_CODE_USE_FOUNDRY'],
  env: {
    [addressVariable]: baseUrl,
    ANTHROPIC_BASE_URL: baseUrl,
    ANTHROPIC_MODEL: model,
    ANTHROPIC_DEFAULT_OPUS_MODEL: model,
    ANTHROPIC_DEFAULT_SONNET_MODEL: model,
    ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
    ANTHROPIC_SMALL_FAST_MODEL: model,
    CLAUDE_CODE_SUBAGENT_MODEL: model,
    ...(contextLength === undefined ? {} : compaction(contextLength)),
    CLAUDE_CODE_ATTRIBUTION_HEADER: '0',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    API_TIMEOUT_MS: String(requestTimeoutMs),
  },
  keys: ['ANTHROPIC_AUTH_TOKEN'],
  args: [],
})

/** Codex: https://developers.openai.com/codex/config-reference. `-c` sets a key of its configuration to a TOML value. */
export const codexSettings = ({baseUrl, model, contextLength}: Target): ProgramSettings => {
  const provider = {
    name: 'svc',
    base_url: `${baseUrl}/v1`,
    wire_api: 'responses',
    env_key: keyVariable,
    stream_idle_timeout_ms: requestTimeoutMs,
  }
  // JSON of strings and numbers is TOML.
  const values = {
    model_provider: 'svc',
    ...Object.fromEntries(Object.entries(provider).map(([key, value]) => [`model_providers.svc.${key}`, value])),
    ...(contextLength === undefined ? {} : {model_context_window: contextLength}),
  }
  const overrides = Object.entries(values).flatMap(([key, value]) => ['-c', `${key}=${JSON.stringify(value)}`])
  return {unset: [], env: {[addressVariable]: baseUrl}, keys: [], args: [...overrides, '-m', model]}
}

/** opencode: https://opencode.ai/docs/config. Its configuration in a variable precedes that in files. */
export const opencodeSettings = ({baseUrl, model, contextLength: context}: Target): ProgramSettings => {
  const limit = context === undefined ? {} : {limit: {context, output: Math.ceil(context / 4)}}
  const config = {
    $schema: 'https://opencode.ai/config.json',
    model: `svc/${model}`,
    small_model: `svc/${model}`,
    provider: {
      svc: {
        npm: '@ai-sdk/openai-compatible',
        name: 'svc',
        options: {baseURL: `${baseUrl}/v1`, apiKey: `{env:${keyVariable}}`},
        models: {[model]: {name: model, ...limit}},
      },
    },
  }
  const env = {[addressVariable]: baseUrl, OPENCODE_CONFIG_CONTENT: JSON.stringify(config)}
  return {unset: [], env, keys: [], args: []}
}

/** Continue: https://docs.continue.dev/reference. `--config` names a file of the same format as that of its extensions. */
export const continueSettings = ({baseUrl, model, contextLength}: Target): ProgramSettings => {
  const config = {
    name: 'svc',
    version: '1.0.0',
    schema: 'v1',
    models: [
      {
        name: model,
        provider: 'openai',
        model,
        apiBase: `${baseUrl}/v1`,
        apiKey: `\${{ secrets.${keyVariable} }}`,
        roles: ['chat', 'edit', 'apply'],
        capabilities: ['tool_use'],
        ...(contextLength === undefined ? {} : {defaultCompletionOptions: {contextLength}}),
      },
    ],
  }
  const file = {name: 'continue.yaml', text: stringify(config)}
  return {unset: [], env: {[addressVariable]: baseUrl}, keys: [], args: ['--config'], file}
}
