import {settings} from '../setting.js'
import {boolean, milliseconds, text} from '../types.js'

/** The daemon and those who call it. */
export const daemonSettings = settings('daemon', () => ({
  socket: {
    type: text('stdio, or HOST:PORT'),
    flag: 'listen',
    env: ['SVC_ORCHESTRATOR_DAEMON_SOCKET'],
    doc: 'Where the daemon answers requests, and clients find it: stdio, or HOST:PORT.',
  },
  token: {
    type: text('a token'),
    env: ['SVC_DAEMON_TOKEN'],
    secret: true,
    doc: 'Token that a daemon wants of its clients over TCP, and that commands send to it; 16 characters or more beyond loopback.',
  },
  agentFleet: {
    type: boolean('lenient'),
    env: ['SVC_MCP_AGENT_FLEET'],
    default: true,
    doc: 'Whether the daemon runs queued tasks; off, it answers requests, and clients that claim tasks run them.',
  },
  lineTimeoutMs: {
    type: milliseconds(100),
    env: ['SVC_DAEMON_LINE_TIMEOUT_MS'],
    toml: ['daemon.line_timeout_ms'],
    default: 60_000,
    doc: 'Milliseconds after which a connection is cut that has begun a line and not ended it.',
  },
}))
