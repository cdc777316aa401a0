import {readFileSync} from 'node:fs'
import {join} from 'node:path'
import {packageRoot} from '../../../files/index.js'
import {accelerators, hardCapabilities} from '../../protocol/meets-requirements.js'
import {maxAttempts, sameAttempt} from '../message-rows.js'

/** Difference between the clock and its last saved time from which the clock leaps, ms. */
const leapAtMs = 5000
/** Time after a leap during which the clock is not trusted for deletions, ms. */
const untrustedMs = 3_600_000
/** Expression for the time of the store, Unix ms, evaluated once per statement. */
export const now = `(SELECT least(greatest(mesh_wall_clock() + ahead, at), at + ${leapAtMs}) FROM mesh_clock WHERE key)`

const listOf = (words: readonly string[]) => words.map((word) => `'${word}'`).join(', ')

/** Variables of the files, such as `:now`. */
const variables: Readonly<Record<string, string | number>> = {
  now,
  leap_ms: leapAtMs,
  untrusted_ms: untrustedMs,
  max_attempts: maxAttempts,
  same_attempt: sameAttempt,
  accelerators: listOf(accelerators),
  hard_capabilities: listOf(hardCapabilities),
}

const folder = join(packageRoot, 'dist', 'src', 'mesh', 'store', 'postgres', 'sql')

/** Reads a file of SQL. @throws Error if a variable has no value */
export function readSql(name: string): string {
  return readFileSync(join(folder, `${name}.sql`), 'utf8').replaceAll(/(?<![:\w]):([a-z]\w*)/g, (_, variable) => {
    const value = variables[variable]
    if (value === undefined) throw new Error(`${name}.sql has no value for :${variable}.`)
    return String(value)
  })
}

/** Functions, each after those that it needs when it is created. */
const functions = ['clock', 'audit', 'nodes', 'leases', 'inboxes', 'policy', 'purge', 'credentials', 'blobs']

/**
 * Versions of a database, as the files that change its tables. Versions are appended, and their files are never changed; one
 * that changes only functions has no files. All functions are replaced after them, so that each is only written once. A function whose
 * parameters or results change gets a new name: control planes of the previous version still use the old one.
 *
 * Columns are those of SQLite, where the same is stored. Times are Unix ms on the store's clock, except the deadlines of
 * maintenance and the expiry of tokens, which clients set. Every row that belongs to a tenant has a `scope_id`.
 *
 * - `mesh_clock`: the last saved time, which each process saves every second, and the lead over the system clock after
 *   that was set back. `mesh_now()` is never before the last saved time, and at most five seconds after it: after a
 *   longer time, all leases and claims are extended first. `mesh_wall_clock()` is the only function that reads the
 *   system clock.
 * - `mesh_node_seen`: last heartbeat of each node. It is not logged: after a crash of the server it is empty, and the
 *   nodes count as just seen.
 * - `mesh_exec_leases`: last epoch of each key, even after it has ended, to keep its fencing token.
 * - `mesh_inboxes`: upper bound of the open messages of each receiver, and of all receivers under an empty name. Only
 *   deliveries write it, so that acknowledgements do not wait for them.
 * - `mesh_messages`: `payload` is UTF-8; it may contain U+0000, which the type text cannot store.
 * - `mesh_audit`: as in SQLite.
 * - `mesh_replicas`: open stores, by the server process of their session.
 */
const versions: readonly (readonly string[])[] = [['tables'], ['replicas'], []]

/** Current version of a database. */
export const version = versions.length

/** Migrations from a version to the current one, in order. */
export const migrationsFrom = (found: number): {version: number; sql: string}[] =>
  versions.slice(found).map((files, i) => {
    const to = found + i + 1
    return {version: to, sql: [...files, ...(to === version ? functions : [])].map(readSql).join('\n')}
  })
