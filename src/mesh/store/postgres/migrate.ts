import type pg from 'pg'
import {SvcError} from '../../../errors/index.js'
import {migrationsFrom, version} from './schema.js'

/** Oldest supported version of the server. */
const oldestMajor = 15
/** Key of the advisory lock that one migration holds. */
const migrationLock = 0x7376_6301
const fragment = 'mesh_store'

/**
 * Migrates a database to the current schema, in one transaction. Only one process at a time does so.
 * @param server name of the server without credentials
 * @throws store_server_unsupported, store_newer, store_migration_failed; driver errors
 */
export async function migrate(client: pg.Client, server: string): Promise<void> {
  await requireSupport(client, server)
  if (isCurrent(await versionOf(client), server)) return
  await client.query('BEGIN')
  try {
    await client.query('SELECT pg_advisory_xact_lock($1)', [migrationLock])
    const found = await versionOf(client)
    if (!isCurrent(found, server)) await apply(client, server, found)
    await client.query('COMMIT')
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined)
    throw error
  }
}

async function apply(client: pg.Client, server: string, found: number): Promise<void> {
  for (const {version, sql} of migrationsFrom(found)) {
    try {
      await client.query(sql)
    } catch (error) {
      const {code = '', message: reason} = error as pg.DatabaseError
      // Missing rights, a full disk and lost connections are not errors of the migration.
      if (!/^(22|42(?!501)|2200)/.test(code)) throw error
      const step = {path: server, fragment, version, reason}
      throw new SvcError('store_migration_failed', step, {cause: error})
    }
  }
  await client.query(
    'CREATE TABLE IF NOT EXISTS mesh_schema (version integer NOT NULL, applied_at timestamptz NOT NULL)',
  )
  await client.query('DELETE FROM mesh_schema')
  await client.query('INSERT INTO mesh_schema VALUES ($1, now())', [version])
}

/** @throws store_server_unsupported */
async function requireSupport(client: pg.Client, server: string): Promise<void> {
  const {rows} = await client.query<{version: string; encoding: string}>(
    "SELECT current_setting('server_version') AS version, current_setting('server_encoding') AS encoding",
  )
  const {version, encoding} = rows[0] ?? {version: '', encoding: ''}
  const reason =
    Number.parseInt(version, 10) < oldestMajor
      ? `the server is PostgreSQL ${version}`
      : encoding === 'UTF8'
        ? undefined
        : `its encoding is ${encoding}`
  if (reason !== undefined) throw new SvcError('store_server_unsupported', {path: server, reason})
}

async function versionOf(client: pg.Client): Promise<number> {
  // The catalogue itself: to_regclass caches that a table does not exist.
  const {rowCount} = await client.query(
    "SELECT FROM pg_class WHERE relname = 'mesh_schema' AND relnamespace = current_schema()::regnamespace",
  )
  if (rowCount === 0) return 0
  const versions = await client.query<{version: number}>('SELECT version FROM mesh_schema')
  return versions.rows[0]?.version ?? 0
}

/** @throws store_newer */
function isCurrent(found: number, server: string): boolean {
  const known = version
  if (found > known) throw new SvcError('store_newer', {path: server, fragment, found, known})
  return found === known
}
