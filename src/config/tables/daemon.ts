import {settings} from '../setting.js'
import {boolean, milliseconds, text} from '../types.js'

/** The daemon and its clients. */
export const daemonSettings = settings('daemon', () => ({
  socket: {
    type: text('stdio, or HOST:PORT'),
    flag: 'listen',
    placeholder: 'ADDRESS',
    env: ['SVC_ORCHESTRATOR_DAEMON_SOCKET'],
    doc: 'Address that the daemon listens on and clients connect to: HOST:PORT; or for svc daemon run, stdio or off.',
  },
  token: {
    type: text('a token'),
    env: ['SVC_DAEMON_TOKEN'],
    secret: true,
    doc: 'Token shared by the daemon and its TCP clients; at least 16 characters to listen beyond loopback.',
  },
  agentFleet: {
    type: boolean('lenient'),
    env: ['SVC_MCP_AGENT_FLEET'],
    default: true,
    doc: 'Run queued tasks in the daemon; if off, it only answers requests and external workers claim the tasks.',
  },
  lineTimeoutMs: {
    type: milliseconds(100),
    env: ['SVC_DAEMON_LINE_TIMEOUT_MS'],
    toml: ['daemon.line_timeout_ms'],
    default: 60_000,
    doc: 'Time limit for receiving a complete request line, in milliseconds; then the connection is closed.',
  },
}))
