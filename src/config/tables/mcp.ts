import {sectionSettings} from '../setting.js'
import {choices, integer, milliseconds, type SettingType, text} from '../types.js'

/** A word that is no tier is a mistake worth telling, and no shorter list. */
function tierList(): SettingType<readonly ('core' | 'dev' | 'advanced' | 'all')[]> {
  const {skips = () => [], ...words} = choices('core', 'dev', 'advanced', 'all')
  const parse = (value: string) => (skips(value).length > 0 ? [] : (words.parse(value) ?? []))
  return {...words, parse: (value) => (parse(value).length === 0 ? undefined : parse(value))}
}

export const mcpSettings = sectionSettings('mcp', () => ({
  tiers: {
    type: tierList(),
    flag: 'tiers',
    env: ['SVC_MCP_TIERS'],
    default: ['core'] as const,
    doc: 'Tiers of tools that are listed: core, dev, advanced, or all; a tool that is not listed can be called all the same.',
  },
  askTimeoutMs: {
    type: milliseconds(1),
    env: ['SVC_MCP_ASK_TIMEOUT_MS'],
    default: 300_000,
    doc: 'Milliseconds that a person has to answer a question of a tool.',
  },
  httpBearerToken: {
    type: text('a token'),
    env: ['SVC_MCP_HTTP_BEARER_TOKEN'],
    secret: true,
    doc: 'Bearer token that clients over HTTP must send; of 16 characters or more to listen beyond loopback.',
    toml: [],
  },
  httpMaxSessions: {
    type: integer({min: 1, max: 10_000}),
    env: ['SVC_MCP_HTTP_MAX_SESSIONS'],
    default: 64,
    doc: 'Most sessions over HTTP at once; one that is idle makes room for a new one.',
  },
  httpSessionIdleMs: {
    type: milliseconds(100),
    env: ['SVC_MCP_HTTP_SESSION_IDLE_MS'],
    default: 1_800_000,
    doc: 'Milliseconds without a request or an open stream after which a session over HTTP ends.',
  },
  httpRateLimitPerMinute: {
    type: integer({min: 0, max: 1_000_000}),
    env: ['SVC_MCP_HTTP_RATE_LIMIT_PER_MINUTE'],
    default: 1200,
    doc: 'Most requests of one client over HTTP in a minute; 0 for no limit.',
  },
}))
