import type {Database} from 'better-sqlite3'
import {type Column, type Program, show, type Table} from '../check/index.js'
import {backfill, columnDefinition, createIndex, sqlType} from '../emit/index.js'
import {quoted} from '../plan/index.js'
import {decoder, TypeMismatch} from '../run/index.js'
import type {Choices} from './choices.js'
import {undeclared} from './diff.js'
import {literalOf, zeroOf} from './literal.js'
import {type LiveColumn, type LiveTable, quotedAny} from './live-schema.js'

/** Why a table cannot be rebuilt. */
export class RebuildFailed extends Error {}

type Run = (sql: string) => void

/**
 * Makes a table anew and moves its rows, all values checked: what cannot be converted without loss breaks off. Columns
 * that nobody declares stay, unless they were named for dropping.
 * Source: SQLite documentation, "Making Other Kinds Of Table Schema Changes".
 */
export function rebuildTable(
  database: Database,
  program: Program,
  table: Table,
  live: LiveTable,
  choices: Choices,
  run: Run,
): void {
  const name = quoted(table.sqlName)
  const fresh = quoted(`_new_${table.sqlName}`)
  const kept = undeclared(table, live).filter((column) => !choices.drops.has(`${table.sqlName}.${column.name}`))
  const before = rowCount(database, name)
  const moves = table.columns.map((column) => move(database, table, column, live, choices))
  const definitions = [
    '"_id" INTEGER PRIMARY KEY AUTOINCREMENT',
    ...table.columns.map(columnDefinition),
    ...kept.map(liveDefinition),
  ]
  const targets = [
    '"_id"',
    ...table.columns.map((column) => quoted(column.name)),
    ...kept.map((column) => quotedAny(column.name)),
  ]
  const sources = ['"_id"', ...moves, ...kept.map((column) => quotedAny(column.name))]
  const byHand = madeByHand(database, table)

  run(`CREATE TABLE ${fresh} (\n  ${definitions.join(',\n  ')}\n);`)
  const sequence = sequenceOf(database, table.sqlName)
  run(`INSERT INTO ${fresh} (${targets.join(', ')}) SELECT ${sources.join(', ')} FROM ${name};`)
  const after = rowCount(database, fresh)
  if (after !== before) throw new RebuildFailed(`${before} rows of ${table.sqlName} became ${after}`)
  for (const index of program.indexes)
    if (index.table === table && index.style !== 'btree') run(`DROP TABLE IF EXISTS ${quoted(index.sqlName)};`)
  run(`DROP TABLE ${name};`)
  renameTable(database, fresh, name, run)
  // Ids that were once given are never given again.
  if (sequence !== undefined) {
    run(`DELETE FROM sqlite_sequence WHERE name = '${table.sqlName}';`)
    run(`INSERT INTO sqlite_sequence (name, seq) VALUES ('${table.sqlName}', ${sequence});`)
  }
  for (const index of program.indexes)
    if (index.table === table) for (const sql of [...createIndex(index), ...backfill(index)]) run(sql)
  for (const sql of byHand) run(sql)
}

/** Indexes and triggers that are not of the program: they go with the old table and come back with the new one. */
const madeByHand = (database: Database, {sqlName}: Table): string[] =>
  database
    .prepare<[string], {name: string; sql: string}>(
      "SELECT name, sql FROM sqlite_schema WHERE tbl_name = ? AND type IN ('index', 'trigger') AND sql IS NOT NULL",
    )
    .all(sqlName)
    .filter(({name}) => !name.startsWith(`idx_${sqlName}_`) && !/_(fts|vec)_(ai|ad|au)$/.test(name))
    .map(({sql}) => `${sql};`)

/** Views and triggers may name the table that is not there at this moment; they are looked at by nobody. */
function renameTable(database: Database, from: string, to: string, run: Run): void {
  database.pragma('legacy_alter_table = ON')
  try {
    run(`ALTER TABLE ${from} RENAME TO ${to};`)
  } finally {
    database.pragma('legacy_alter_table = OFF')
  }
}

const rowCount = (database: Database, name: string): number =>
  (database.prepare(`SELECT count(*) AS count FROM ${name}`).get() as {count: number}).count

const liveDefinition = ({name, type, required, fallback}: LiveColumn) =>
  `${quotedAny(name)} ${type}${required ? ' NOT NULL' : ''}${fallback === null ? '' : ` DEFAULT ${parenthesized(fallback)}`}`

/** The parentheses of an expression are not kept with it. A text in double quotation marks takes none. */
const parenthesized = (fallback: string) => (fallback.startsWith('"') ? fallback : `(${fallback})`)

function sequenceOf(database: Database, table: string): number | undefined {
  const row = database.prepare('SELECT seq FROM sqlite_sequence WHERE name = ?').get(table) as {seq: number} | undefined
  return row?.seq
}

/** The SQL expression that gives a column its value from the old table. */
function move(database: Database, table: Table, column: Column, live: LiveTable, {defaults}: Choices): string {
  const found = live.columns.find(({name}) => name.toLowerCase() === column.name.toLowerCase())
  const given = defaults.get(`${table.sqlName}.${column.name}`)
  if (found === undefined) {
    if (given !== undefined) return given
    if (column.nullable || !live.hasRows)
      return zeroOf(column) === undefined || column.nullable ? 'NULL' : literalOf(column, zeroOf(column))
    throw new RebuildFailed(`column ${column.name} needs --default ${table.name}.${column.name}=<json>`)
  }
  const old = quotedAny(found.name)
  const converted = convert(database, table, column, found, old)
  if (column.nullable || found.required) return converted
  const empty = countWhere(database, table, `${old} IS NULL`)
  if (given !== undefined) return `coalesce(${converted}, ${given})`
  if (empty === 0) return converted
  throw new RebuildFailed(
    `${empty} row${empty === 1 ? ' has' : 's have'} no ${column.name}; add --default ${table.name}.${column.name}=<json>`,
  )
}

/** The old value as SQLite turns it into the new type, where none of them is lost. */
function convert(database: Database, table: Table, column: Column, found: LiveColumn, old: string): string {
  const to = sqlType(column)
  if (found.type === to) return old
  const fresh = `CAST(${old} AS ${to})`
  const values = database.prepare<[], {old: unknown; fresh: unknown}>(
    `SELECT ${old} AS old, ${fresh} AS fresh FROM ${quoted(table.sqlName)} WHERE ${old} IS NOT NULL`,
  )
  let lost = 0
  for (const value of values.iterate())
    if (!isSameValue(column, value.old, value.fresh) || !isReadable(column, value.fresh)) lost++
  if (lost === 0) return fresh
  throw new RebuildFailed(
    `${lost} value${lost === 1 ? '' : 's'} of ${column.name} cannot be turned from ${found.type} into ${show(column.base)}`,
  )
}

/** Whether nothing was lost when a value was turned into one of another storage class. */
function isSameValue({storage}: Column, old: unknown, fresh: unknown): boolean {
  if (typeof old === 'number' && typeof fresh === 'string') return Number(fresh) === old
  if (typeof old !== 'string' || typeof fresh !== 'number') return fresh === old
  return storage === 'integer' ? String(fresh) === old : old.trim() !== '' && Number(old) === fresh
}

/** Whether a stored value is one of the column's type: integers that are safe, JSON of the right shape. */
function isReadable({base, storage}: Column, stored: unknown): boolean {
  const isBit = base.kind === 'bool' && (stored === 0 || stored === 1)
  try {
    decoder(base)(storage === 'json' ? JSON.parse(String(stored)) : isBit ? stored === 1 : stored)
    return true
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeMismatch) return false
    throw error
  }
}

const countWhere = (database: Database, table: Table, condition: string): number =>
  (
    database.prepare(`SELECT count(*) AS count FROM ${quoted(table.sqlName)} WHERE ${condition}`).get() as {
      count: number
    }
  ).count
