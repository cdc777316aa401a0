import {conflict, failed, rows, unavailable, usage} from '../row.js'

export const storeErrors = rows(() => ({
  store_engine_missing: unavailable({
    http: 500,
    message: (p: {reason: string}) => `The SQLite driver cannot be loaded: ${p.reason}.`,
    hint: 'Reinstall svc with this version of Node.js; in a clone, run `npm run setup`.',
  }),
  store_node_unsupported: usage({
    http: 500,
    message: (p: {version: string; oldestMajor: number}) =>
      `This command requires Node.js ${p.oldestMajor} or later for SQLite; this is Node.js ${p.version}.`,
    hint: 'Run svc with Node.js 22 or later; in a clone, `npm run setup` builds a driver for Node.js 20.',
  }),
  store_unopenable: unavailable({
    http: 500,
    message: (p: {path: string; reason: string}) => `Cannot open the database ${p.path}: ${p.reason}.`,
    hint: 'Check that the directory exists, and that you have permission to write to it.',
  }),
  store_unwritable: unavailable({
    http: 507,
    message: (p: {path: string; reason: string}) => `Cannot write the database ${p.path}: ${p.reason}.`,
    hint: 'Free disk space, or check the permissions of the file and its directory; nothing was changed.',
  }),
  store_damaged: unavailable({
    http: 500,
    message: (p: {path: string; reason: string}) => `${p.path} is not a valid SQLite database: ${p.reason}.`,
    hint: 'If a backup exists (FILE.backup-*), restore it with `svc db restore FILE`; the damaged file is kept.',
  }),
  backup_damaged: unavailable({
    http: 500,
    message: (p: {path: string; reason: string}) => `The backup ${p.path} is damaged: ${p.reason}.`,
    hint: 'Restore another backup; nothing was changed.',
  }),
  backup_target_open: conflict({
    message: (p: {path: string; journal: string}) =>
      `Cannot write a backup to ${p.path}, because ${p.journal} contains changes of a database with this name.`,
    hint: 'Choose another file; nothing was changed.',
  }),
  database_kind_differs: usage({
    http: 500,
    message: (p: {path: string; found: string; expected: string}) => `${p.path} is ${p.found}, not ${p.expected}.`,
    hint: 'Pass --store for a workspace store, --mesh for a mesh database, or neither for the database of a program.',
  }),
  store_busy: unavailable({
    message: (p: {path: string}) => `The database ${p.path} is locked by another process.`,
    hint: 'Wait for the other process, or stop it, then run the command again.',
  }),
  store_moved: unavailable({
    message: (p: {path: string}) => `The database ${p.path} was moved, removed or replaced while this process used it.`,
    hint: 'Put the file back or restore a backup, then start the process again, in the directory that has the file.',
  }),
  database_in_use: conflict({
    message: (p: {path: string; user: string}) => `The database ${p.path} is in use by ${p.user}.`,
    hint: 'Stop the other process, or pass --wait to wait for its end; nothing was changed.',
  }),
  store_unreachable: unavailable({
    message: (p: {path: string; reason: string}) => `Cannot connect to the database ${p.path}: ${p.reason}.`,
    hint: 'Check the URL, the user and its password (PGPASSWORD), and that the server is running.',
  }),
  store_server_unsupported: unavailable({
    http: 500,
    message: (p: {path: string; reason: string}) => `Cannot use the database ${p.path}: ${p.reason}.`,
    hint: 'Use a database with the encoding UTF8 on PostgreSQL 15 or later.',
  }),
  store_session_missing: unavailable({
    http: 500,
    message: (p: {path: string}) =>
      `The proxy in front of the database ${p.path} does not keep sessions, so notifications, locks and settings are lost.`,
    hint: 'Use session pooling (pool_mode = session in pgbouncer), or connect to PostgreSQL itself.',
  }),
  store_rights_missing: unavailable({
    http: 500,
    message: (p: {path: string}) =>
      `The user of the database ${p.path} lacks the permission to create or use its tables.`,
    hint: 'Connect as the owner of the database, or grant the user all rights on its schema.',
  }),
  store_migration_failed: failed({
    message: (p: {path: string; fragment: string; version: number; reason: string}) =>
      `Cannot migrate ${p.path} to schema version ${p.version} (${p.fragment}): ${p.reason}.`,
    hint: 'Report the error, and keep a copy of the file; nothing was changed.',
  }),
  store_newer: conflict({
    http: 500,
    message: (p: {path: string; fragment: string; found: number; known: number}) =>
      `${p.path} was written by a newer svc: ${p.fragment} is at version ${p.found}, but this svc supports up to ${p.known}.`,
    hint: 'Update svc, or use another database file.',
  }),
  vector_engine_missing: unavailable({
    http: 500,
    message: (p: {reason: string}) => `The vector extension of SQLite cannot be loaded: ${p.reason}.`,
    hint: 'Install it with `npm install sqlite-vec`, or remove @vector_index from the program.',
  }),
}))
