import {sectionSettings} from '../setting.js'
import {choice, integer, list, text} from '../types.js'

export const serveSettings = sectionSettings('serve', () => ({
  host: {
    type: text('an address of this machine'),
    flag: 'host',
    env: ['SVC_SERVE_HOST'],
    default: '127.0.0.1',
    doc: 'Address to listen on.',
  },
  port: {
    type: integer({min: 0, max: 65_535}),
    flag: 'port',
    env: ['SVC_SERVE_PORT'],
    default: 11_435,
    doc: 'Port to listen on; 0 takes a free one.',
  },
  device: {
    type: choice('cpu', 'cuda'),
    flag: 'device',
    env: ['SVC_DEVICE'],
    default: 'cpu',
    doc: 'What to compute on.',
  },
  parallel: {
    type: integer({min: 1, max: 256}),
    flag: 'parallel',
    env: ['SVC_SERVE_PARALLEL'],
    default: 8,
    doc: 'Requests that are computed at once.',
  },
  queue: {
    type: integer({min: 0}),
    flag: 'queue',
    env: ['SVC_SERVE_QUEUE'],
    default: 512,
    doc: 'Requests that may wait; more are told to come back.',
  },
  keepAlive: {
    type: integer({min: -1}),
    flag: 'keep-alive',
    env: ['SVC_SERVE_KEEP_ALIVE'],
    default: -1,
    doc: 'Seconds after which an idle model is unloaded; -1 keeps it.',
  },
  origins: {
    type: list(),
    flag: 'origins',
    env: ['SVC_SERVE_ORIGINS'],
    default: [] as readonly string[],
    doc: 'Origins of web pages that may use the server, beside those of this machine.',
  },
  allowedHosts: {
    type: list(),
    flag: 'allowed-hosts',
    env: ['SVC_SERVE_ALLOWED_HOSTS'],
    default: [] as readonly string[],
    doc: 'Host names that requests may ask for, beside those of loopback, such as host.docker.internal.',
  },
}))
