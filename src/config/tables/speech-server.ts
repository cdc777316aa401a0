import {sectionSettings} from '../setting.js'
import {integer, path, text} from '../types.js'

/** The server of speech: recordings by path or upload, and live audio. */
export const speechServerSettings = sectionSettings('speech', () => ({
  dashHost: {
    type: text('an address of this machine'),
    env: ['SVC_DASH_HOST'],
    default: '127.0.0.1',
    planned: true,
    doc: 'Address that the speech server listens on.',
  },
  dashPort: {
    type: integer({min: 0, max: 65_535}),
    env: ['SVC_DASH_PORT'],
    default: 3847,
    planned: true,
    doc: 'Port that the speech server listens on; 0 takes a free one.',
  },
  token: {
    type: text('a token'),
    env: ['SVC_SPEECH_TOKEN'],
    secret: true,
    planned: true,
    doc: 'Bearer token of the speech server; needed to listen on anything but loopback.',
  },
  workspace: {
    type: path(),
    env: ['SVC_SPEECH_WORKSPACE'],
    doc: 'Folder that paths in requests are relative to, instead of the current one.',
  },
  maxUploadBytes: {
    type: integer({min: 1}),
    env: ['SVC_SPEECH_MAX_UPLOAD_BYTES'],
    default: 33_554_432,
    planned: true,
    doc: 'Most bytes of an uploaded recording.',
  },
  streamPartialQuietMs: {
    type: integer({min: 50, clamp: true}),
    env: ['SVC_SPEECH_STREAM_PARTIAL_QUIET_MS'],
    default: 350,
    planned: true,
    doc: 'Milliseconds that live text must stay as it is to count as stable.',
  },
  streamMaxWaitMs: {
    type: integer({min: 200, clamp: true}),
    env: ['SVC_SPEECH_STREAM_MAX_WAIT_MS'],
    default: 2500,
    planned: true,
    doc: 'Milliseconds after which live text counts as stable anyway.',
  },
  streamMaxBufferMs: {
    type: integer({min: 1000, clamp: true}),
    env: ['SVC_SPEECH_STREAM_MAX_BUFFER_MS'],
    default: 300_000,
    planned: true,
    doc: 'Milliseconds of live audio that are kept.',
  },
  canaryKpi: {
    type: path(),
    env: ['SVC_SPEECH_CANARY_KPI'],
    planned: true,
    doc: 'JSON file of measured quality that the server must pass before it starts.',
  },
}))
