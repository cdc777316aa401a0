import {conflict, failed, rows, unavailable, usage} from '../row.js'

export const storeErrors = rows(() => ({
  store_engine_missing: unavailable({
    http: 500,
    message: (p: {reason: string}) => `Cannot load the SQLite driver: ${p.reason}.`,
    hint: 'Reinstall svc with this Node version; in a clone, run npm run setup.',
  }),
  store_node_unsupported: usage({
    http: 500,
    message: (p: {version: string; oldestMajor: number}) =>
      `This command needs Node ${p.oldestMajor} or later for SQLite; this is Node ${p.version}.`,
    hint: 'Run svc with Node 22 or later; in a clone, npm run setup builds a driver for Node 20.',
  }),
  store_unopenable: unavailable({
    http: 500,
    message: (p: {path: string; reason: string}) => `Cannot open the database ${p.path}: ${p.reason}.`,
    hint: 'Check that the directory exists and is writable.',
  }),
  store_unwritable: unavailable({
    http: 507,
    message: (p: {path: string; reason: string}) => `Cannot write the database ${p.path}: ${p.reason}.`,
    hint: 'Free disk space, or check the permissions of the file and its directory. Nothing was changed.',
  }),
  store_damaged: unavailable({
    http: 500,
    message: (p: {path: string; reason: string}) => `${p.path} is not a valid SQLite database: ${p.reason}.`,
    hint: 'Move the file away and restore a backup.',
  }),
  store_busy: unavailable({
    message: (p: {path: string}) => `The database ${p.path} is locked by another process.`,
    hint: 'Retry when the other process has finished.',
  }),
  store_migration_failed: failed({
    message: (p: {path: string; fragment: string; version: number; reason: string}) =>
      `Cannot upgrade ${p.path} to version ${p.version} of ${p.fragment}: ${p.reason}.`,
    hint: 'Report this message, and keep a copy of the file. Nothing was changed.',
  }),
  store_newer: conflict({
    http: 500,
    message: (p: {path: string; fragment: string; found: number; known: number}) =>
      `${p.path} was written by a newer version of svc: ${p.fragment} is at version ${p.found}, this version supports ${p.known}.`,
    hint: 'Update svc, or use another database file.',
  }),
  vector_engine_missing: unavailable({
    http: 500,
    message: (p: {reason: string}) => `Cannot load the vector extension of SQLite: ${p.reason}.`,
    hint: 'Install it with npm install sqlite-vec, or remove @vector_index from the program.',
  }),
}))
