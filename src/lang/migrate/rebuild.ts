import type {Database} from 'better-sqlite3'
import {counted} from '../../errors/index.js'
import {type Column, type Program, show, type Table} from '../check/index.js'
import {columnDefinition, constraintsOf, sqlType} from '../emit/index.js'
import {quoted} from '../plan/index.js'
import {Failure} from '../run/index.js'
import type {Choices} from './choices.js'
import {isConstrainedOtherwise} from './constraints.js'
import {conversion, keepsStored, misfit, misfitsOf, nameRows} from './convert.js'
import {constrained, readTable, retyped, type TableText, withColumn, withoutColumn, writeTable} from './create-table.js'
import {declaredType, showContents} from './declared.js'
import {isChanged, undeclared} from './diff.js'
import {constantDefault, literalOf, zeroOf} from './literal.js'
import {type LiveColumn, type LiveIndex, type LiveTable, liveColumn, quotedAny, triggersOf} from './live-schema.js'
import {checkUsing, usingFunction} from './using.js'

/** Why a table cannot be rebuilt. */
export class RebuildFailed extends Error {}

type Run = (sql: string) => void

/** The input of a table rebuild. */
export interface Rebuild {
  database: Database
  program: Program
  table: Table
  live: LiveTable
  /** The indexes of the table before the rebuild. */
  liveIndexes: readonly LiveIndex[]
  choices: Choices
  run: Run
}

/**
 * Rebuilds a table and moves its rows; fails if a value cannot be converted without loss. Everything undeclared is
 * preserved: columns not chosen for dropping, references, checks and column order. The caller creates the indexes of
 * the program.
 * Source: SQLite documentation, "Making Other Kinds Of Table Schema Changes".
 */
export function rebuildTable(rebuild: Rebuild): void {
  const {database, program, table, live, choices, run} = rebuild
  const name = quoted(table.sqlName)
  const fresh = quoted(freeName(database, `_new_${table.sqlName}`))
  const preserved = undeclared(table, live).filter((column) => !choices.drops.has(`${table.sqlName}.${column.name}`))
  const before = rowCount(database, name)
  const moves = table.columns.map((column, i) => move(rebuild, column, i))
  const targets = [
    '"_id"',
    ...table.columns.map(({name: each}) => quoted(each)),
    ...preserved.map((each) => quotedAny(each.name)),
  ]
  const sources = ['"_id"', ...moves, ...preserved.map((each) => quotedAny(each.name))]
  const byHand = madeByHand(rebuild)

  run(writeTable(fresh, newText(rebuild)))
  const sequence = sequenceOf(database, table.sqlName)
  try {
    run(`INSERT INTO ${fresh} (${targets.join(', ')}) SELECT ${sources.join(', ')} FROM ${name};`)
  } catch (error) {
    if (error instanceof Failure) throw new RebuildFailed(error.message, {cause: error})
    throw unmetCondition(table, error) ?? error
  }
  const after = rowCount(database, fresh)
  if (after !== before)
    throw new RebuildFailed(`the rebuilt table ${table.sqlName} has ${counted(after, 'row')} instead of ${before}`)
  for (const index of program.indexes)
    if (index.table === table && index.style !== 'btree') run(`DROP TABLE IF EXISTS ${quoted(index.sqlName)};`)
  run(`DROP TABLE ${name};`)
  renameTable(database, fresh, name, run)
  // Ids are never reused.
  if (sequence !== undefined) {
    run(`DELETE FROM sqlite_sequence WHERE name = '${table.sqlName}';`)
    run(`INSERT INTO sqlite_sequence (name, seq) VALUES ('${table.sqlName}', ${sequence});`)
  }
  for (const sql of byHand) run(sql)
}

/** Why the new table refuses a row of the old one. */
function unmetCondition({name, columns}: Table, error: unknown): RebuildFailed | undefined {
  const [, checked] = /^CHECK constraint failed: svc_check_(.+)$/.exec((error as Error).message) ?? []
  const text = columns.find((column) => column.name === checked || column.was === checked)?.check?.text
  return text === undefined
    ? undefined
    : new RebuildFailed(`a row does not meet check(${text}); add --using ${name}.${checked}=<expression>`, {
        cause: error,
      })
}

function freeName(database: Database, name: string): string {
  const isTaken = database.prepare('SELECT 1 FROM sqlite_schema WHERE name = ?').pluck()
  return isTaken.get(name) === undefined ? name : freeName(database, `${name}_`)
}

/** The CREATE TABLE statement of the table, with the columns of the program. */
function newText({table, live, choices}: Rebuild): TableText {
  let text = readTable(live.sql)
  for (const column of undeclared(table, live))
    if (choices.drops.has(`${table.sqlName}.${column.name}`)) text = withoutColumn(text, column.name)
  for (const column of table.columns) {
    const found = liveColumn(live, column.name)
    if (found === undefined) text = withColumn(text, column.name, columnDefinition(column, table))
    else {
      if (found.type !== sqlType(column) || found.required === column.nullable)
        text = retyped(text, found.name, sqlType(column), !column.nullable)
      if (isConstrainedOtherwise(table, column, found))
        text = constrained(text, found.name, constraintsOf(column, table))
    }
  }
  return text
}

/** The user's indexes and triggers, which are dropped with the old table and recreated on the new one. */
function madeByHand({database, program, table, liveIndexes}: Rebuild): string[] {
  const ours = [
    ...program.indexes.filter((index) => index.table === table).map(({sqlName}) => sqlName),
    ...liveIndexes.filter(({isOurs}) => isOurs).map(({name}) => name),
  ]
  const names = new Set(ours.flatMap((name) => [name, ...triggersOf(name)]))
  return database
    .prepare<[string], {name: string; sql: string}>(
      "SELECT name, sql FROM sqlite_schema WHERE tbl_name = ? AND type IN ('index', 'trigger') AND sql IS NOT NULL",
    )
    .all(table.sqlName)
    .filter(({name}) => !names.has(name))
    .map(({sql}) => `${sql};`)
}

/** Renames a table without checking views and triggers, which may refer to a table missing at this moment. */
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

/** The greatest id ever assigned, if the table records it. */
function sequenceOf(database: Database, table: string): number | undefined {
  const remembers = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_sequence'").get() !== undefined
  if (!remembers) return undefined
  return database.prepare('SELECT seq FROM sqlite_sequence WHERE name = ?').pluck().get(table) as number | undefined
}

/** The SQL expression that computes a column from the old table. */
function move(rebuild: Rebuild, column: Column, i: number): string {
  const {database, program, table, live, choices} = rebuild
  const key = `${table.sqlName}.${column.name}`
  const expression = choices.usings.get(key)
  if (expression !== undefined) {
    const using = checkUsing(program, table, column, live, expression)
    const name = `svc_using_${i}`
    database.function(name, {varargs: true}, usingFunction(using))
    return `${name}("_id"${using.old.map((old) => `, ${quotedAny(old.live.name)}`).join('')})`
  }
  const found = liveColumn(live, column.name)
  const fallback =
    choices.defaults.get(key) ?? (found === undefined && !column.nullable ? constantDefault(column) : undefined)
  if (found === undefined) {
    if (fallback !== undefined) return fallback
    if (column.nullable || !live.hasRows)
      return zeroOf(column) === undefined || column.nullable ? 'NULL' : literalOf(column, zeroOf(column))
    throw new RebuildFailed(`column ${column.name} needs --default ${table.name}.${column.name}=<json>`)
  }
  const old = quotedAny(found.name)
  const converted = isChanged(column, found) ? convert(rebuild, column, found, i) : old
  if (column.nullable || found.required) return converted
  if (fallback !== undefined) return `coalesce(${converted}, ${fallback})`
  const empty = countWhere(database, table, `${old} IS NULL`)
  if (empty === 0) return converted
  throw new RebuildFailed(
    `${counted(empty, 'row has', 'rows have')} no ${column.name}; add --default ${table.name}.${column.name}=<json>`,
  )
}

/** Converts the old value to the new type; falls back to the user's default. */
function convert({database, table, choices}: Rebuild, column: Column, found: LiveColumn, i: number): string {
  const {count, ids} = misfitsOf(database, table, column, found)
  const place = `${table.name}.${column.name}`
  const fallback = choices.defaults.get(`${table.sqlName}.${column.name}`)
  const from = declaredType(found)
  if (count > 0 && fallback === undefined) {
    const old = from === undefined || found.type !== sqlType(column) ? found.type : showContents(from)
    throw new RebuildFailed(
      `${counted(count, 'value')} of ${column.name} cannot be converted from ${old} to ${show(column.base)} (${nameRows(ids, count)}); add --using ${place}=<expression> or --default ${place}=<json>`,
    )
  }
  const old = quotedAny(found.name)
  const keeps = keepsStored(column, found)
  if (keeps && count === 0) return old
  const name = `svc_convert_${i}`
  const convert = conversion(column, found)
  database.function(name, {deterministic: true}, (stored: unknown, cast: unknown) => {
    const fresh = convert(stored, cast)
    if (keeps) return fresh === misfit ? 0 : 1
    return fresh === misfit ? null : fresh
  })
  const turned = `${name}(${old}, CAST(${old} AS ${sqlType(column)}))`
  const fresh = keeps
    ? `CASE WHEN ${turned} THEN ${old} ELSE ${fallback} END`
    : `coalesce(${turned}, ${fallback ?? 'NULL'})`
  return `CASE WHEN ${old} IS NOT NULL THEN ${fresh} END`
}

const countWhere = (database: Database, table: Table, condition: string): number =>
  (
    database.prepare(`SELECT count(*) AS count FROM ${quoted(table.sqlName)} WHERE ${condition}`).get() as {
      count: number
    }
  ).count
