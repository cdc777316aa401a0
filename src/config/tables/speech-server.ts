import {sectionSettings} from '../setting.js'
import {integer, path, text} from '../types.js'

/** The speech server: recordings by path or upload, and live audio. */
export const speechServerSettings = sectionSettings('speech', () => ({
  dashHost: {
    type: text('an address of this machine'),
    flag: 'host',
    group: 'network',
    env: ['SVC_DASH_HOST'],
    default: '127.0.0.1',
    doc: 'Address to listen on.',
  },
  dashPort: {
    type: integer({min: 0, max: 65_535}),
    flag: 'port',
    group: 'network',
    env: ['SVC_DASH_PORT'],
    default: 3847,
    doc: 'Port to listen on; 0 selects a free port.',
  },
  token: {
    type: text('a token'),
    env: ['SVC_SPEECH_TOKEN'],
    secret: true,
    doc: 'Bearer token of the speech server; required to listen beyond loopback.',
  },
  tlsCertPath: {
    type: path(),
    flag: 'tls-cert',
    group: 'network',
    env: ['SVC_SPEECH_TLS_CERT_PATH'],
    doc: 'PEM file of the certificate chain; together with a key it enables HTTPS.',
  },
  tlsKeyPath: {
    type: path(),
    flag: 'tls-key',
    group: 'network',
    env: ['SVC_SPEECH_TLS_KEY_PATH'],
    doc: 'PEM file of the private key for the certificate.',
  },
  workspace: {
    type: path(),
    env: ['SVC_SPEECH_WORKSPACE'],
    doc: 'Directory for recordings requested by tools and programs; default: the workspace root.',
  },
  maxUploadBytes: {
    type: integer({min: 1}),
    env: ['SVC_SPEECH_MAX_UPLOAD_BYTES'],
    default: 33_554_432,
    doc: 'Maximum size of an uploaded recording, in bytes.',
  },
  streamPartialQuietMs: {
    type: integer({min: 50, clamp: true}),
    env: ['SVC_SPEECH_STREAM_PARTIAL_QUIET_MS'],
    default: 350,
    doc: 'Time without a change after which live text counts as stable, in milliseconds.',
  },
  streamMaxWaitMs: {
    type: integer({min: 200, clamp: true}),
    env: ['SVC_SPEECH_STREAM_MAX_WAIT_MS'],
    default: 2500,
    doc: 'Time after which live text always counts as stable, in milliseconds.',
  },
  streamMaxBufferMs: {
    type: integer({min: 1000, clamp: true}),
    env: ['SVC_SPEECH_STREAM_MAX_BUFFER_MS'],
    default: 300_000,
    doc: 'Maximum live audio to keep, in milliseconds.',
  },
  sessionTtlSecs: {
    type: integer({min: 1}),
    env: ['SVC_SPEECH_SESSION_TTL_SECS'],
    default: 300,
    doc: 'Time for which a live session without a client can be resumed, in seconds.',
  },
  canaryKpi: {
    type: path(),
    env: ['SVC_SPEECH_CANARY_KPI'],
    doc: 'JSON file of measured quality; svc speech serve starts only if it is within the limits, and svc speech eval checks them.',
  },
}))
