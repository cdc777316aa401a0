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
    doc: 'Port to listen on; 0 selects a free port.',
  },
  device: {
    type: choice('cpu', 'cuda'),
    flag: 'device',
    env: ['SVC_DEVICE'],
    default: 'cpu',
    doc: 'Compute device.',
  },
  parallel: {
    type: integer({min: 1, max: 256}),
    flag: 'parallel',
    env: ['SVC_SERVE_PARALLEL'],
    default: 8,
    doc: 'Maximum number of requests to process concurrently.',
  },
  queue: {
    type: integer({min: 0}),
    flag: 'queue',
    env: ['SVC_SERVE_QUEUE'],
    default: 512,
    doc: 'Maximum number of queued requests; further requests are rejected with status 503.',
  },
  prefixCache: {
    type: integer({min: 0}),
    flag: 'prefix-cache',
    placeholder: 'MB',
    env: ['SVC_SERVE_PREFIX_CACHE'],
    default: 256,
    doc: 'Memory for beginnings of prompts, so that only the rest of a longer one is computed; 0 disables it.',
  },
  keepAlive: {
    type: integer({min: -1}),
    flag: 'keep-alive',
    placeholder: 'SECONDS',
    env: ['SVC_SERVE_KEEP_ALIVE'],
    default: -1,
    doc: 'Time until an idle model is unloaded, in seconds; -1 keeps it loaded.',
  },
  origins: {
    type: list(),
    flag: 'origins',
    placeholder: 'ORIGIN,...',
    env: ['SVC_SERVE_ORIGINS'],
    default: [] as readonly string[],
    doc: 'Origins of web pages that may use the server, in addition to those of this machine.',
  },
  allowedHosts: {
    type: list(),
    flag: 'allowed-hosts',
    placeholder: 'HOST,...',
    env: ['SVC_SERVE_ALLOWED_HOSTS'],
    default: [] as readonly string[],
    doc: 'Host names to accept in the Host header besides loopback, such as host.docker.internal.',
  },
}))
