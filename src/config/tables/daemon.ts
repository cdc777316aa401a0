import {settings} from '../setting.js'
import {text} from '../types.js'

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
    doc: 'Token that a daemon wants of its clients over TCP, and that commands send to it.',
  },
}))
