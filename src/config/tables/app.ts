import {settings} from '../setting.js'
import {baseUrl, boolean, integer, path, text} from '../types.js'

/** Database and server of data-language programs. */
export const appSettings = settings('app', () => ({
  database: {
    type: path(),
    flag: 'db',
    env: ['SVC_APP_DB_PATH'],
    toml: ['db.path'],
    doc: 'Database file of the program; default: .svc/app.db in the workspace.',
  },
  program: {
    type: path(),
    env: ['SVC_APP_PROGRAM'],
    toml: ['db.program'],
    default: 'src/main.svc',
    doc: 'Program file to use if a command names none.',
  },
  host: {
    type: text('an address of this machine'),
    flag: 'host',
    env: ['SVC_HOST'],
    toml: ['db.host'],
    default: '127.0.0.1',
    doc: 'Address to listen on.',
  },
  port: {
    type: integer({min: 0, max: 65_535}),
    flag: 'port',
    env: ['SVC_PORT'],
    toml: ['db.port'],
    default: 3000,
    doc: 'Port to listen on; 0 selects a free port.',
  },
  url: {
    type: baseUrl(),
    flag: 'app-url',
    placeholder: 'URL',
    env: ['SVC_APP_URL'],
    toml: ['db.url'],
    doc: 'Base URL of the running svc db serve, for svc dashboard and the daemon; default: that of the host and port.',
  },
  token: {
    type: text('a token'),
    env: ['SVC_APP_TOKEN'],
    secret: true,
    doc: 'Bearer token of svc db serve.',
  },
  includeHostProbe: {
    type: boolean('opt-in'),
    env: ['SVC_RUNTIME_PROJECTION_INCLUDE_HOST_PROBE'],
    default: false,
    doc: 'Add the name and the capabilities of this machine to the runtime-projection.json of svc db build.',
  },
}))
