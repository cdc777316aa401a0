import {sectionSettings} from '../setting.js'
import {boolean, choices, integer, list, milliseconds, type SettingType, text} from '../types.js'

/** Unlike in other lists, an unknown word makes the value invalid: a silently shorter list would hide a typo. */
function tierList(): SettingType<readonly ('core' | 'dev' | 'advanced' | 'all')[]> {
  const {skips = () => [], ...words} = choices('core', 'dev', 'advanced', 'all')
  const parse = (value: string) => (skips(value).length > 0 ? [] : (words.parse(value) ?? []))
  return {...words, parse: (value) => (parse(value).length === 0 ? undefined : parse(value))}
}

export const mcpSettings = sectionSettings('mcp', () => ({
  tiers: {
    type: tierList(),
    flag: 'tiers',
    placeholder: 'TIER,...',
    env: ['SVC_MCP_TIERS'],
    default: ['core'] as const,
    doc: 'Tiers of the tools to list: core, dev, advanced or all. Other tools can still be called.',
  },
  askTimeoutMs: {
    type: milliseconds(1),
    env: ['SVC_MCP_ASK_TIMEOUT_MS'],
    default: 300_000,
    doc: 'Time that a user has to answer a question from a tool, in milliseconds.',
  },
  httpBearerToken: {
    type: text('a token'),
    env: ['SVC_MCP_HTTP_BEARER_TOKEN'],
    secret: true,
    doc: 'Bearer token that HTTP clients must send; at least 16 characters to listen beyond loopback.',
    toml: [],
  },
  httpReadBearerToken: {
    type: text('a token'),
    env: ['SVC_MCP_HTTP_READ_BEARER_TOKEN'],
    secret: true,
    doc: 'Bearer token of HTTP clients that may only call tools that read the workspace.',
    toml: [],
  },
  httpAllowedTools: {
    type: list(),
    env: ['SVC_MCP_HTTP_ALLOWED_TOOLS'],
    default: [] as readonly string[],
    doc: 'Tools that HTTP clients may call; default: all.',
  },
  httpReadRoleAllowedTools: {
    type: list(),
    env: ['SVC_MCP_HTTP_READ_ROLE_ALLOWED_TOOLS'],
    default: [] as readonly string[],
    doc: 'Tools that HTTP clients with the read token may call; default: all that only read.',
  },
  httpHealthAuth: {
    type: boolean('lenient'),
    env: ['SVC_MCP_HTTP_HEALTH_AUTH'],
    default: false,
    doc: 'Require a token for /health too.',
  },
  httpMaxSessions: {
    type: integer({min: 1, max: 10_000}),
    env: ['SVC_MCP_HTTP_MAX_SESSIONS'],
    default: 64,
    doc: 'Maximum number of HTTP sessions, and of clients that listen without one; a new session replaces the one that has been idle longest.',
  },
  httpSessionIdleMs: {
    type: milliseconds(100),
    env: ['SVC_MCP_HTTP_SESSION_IDLE_MS'],
    default: 1_800_000,
    doc: 'Time without a request or an open stream after which an HTTP session ends, in milliseconds.',
  },
  httpRateLimitPerMinute: {
    type: integer({min: 0, max: 1_000_000}),
    env: ['SVC_MCP_HTTP_RATE_LIMIT_PER_MINUTE'],
    default: 1200,
    doc: 'Maximum number of HTTP requests per client and minute; 0 sets no limit.',
  },
}))
