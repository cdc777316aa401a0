import {settings} from '../setting.js'
import {integer, path, text} from '../types.js'

/** Programs of the data language: their database and their server. */
export const appSettings = settings('app', () => ({
  database: {
    type: path(),
    flag: 'db',
    env: ['SVC_APP_DB_PATH'],
    toml: ['db.path'],
    doc: 'Database of the program, instead of .svc/app.db of the workspace.',
  },
  program: {
    type: path(),
    env: ['SVC_APP_PROGRAM'],
    toml: ['db.program'],
    default: 'src/main.svc',
    doc: 'The program, where a command is given none.',
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
    doc: 'Port to listen on; 0 takes a free one.',
  },
}))
