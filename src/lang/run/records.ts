import {type Column, defaultOf, type Program, type Table} from '../check/index.js'
import {quoted, storedEncoding} from '../plan/index.js'
import {type Binder, binder, rowDecoder} from './bind.js'
import {insertChange, topicsOf} from './change-log.js'
import type {Connection} from './connection.js'
import {type Decoder, decoder, TypeMismatch} from './decode.js'
import {databaseFailure} from './failure.js'
import {pureValue} from './pure.js'
import {isObject, toJson, type Value} from './value.js'

/** A record that a table rejects; the message is the reason. */
export class BadRecord extends Error {}

/** Inserts a JSON record, validated against the declaration. @throws BadRecord, DatabaseFailure */
export type InsertRecord = (record: unknown) => number

/**
 * Prepares the insertion of records into a table. `keepsIds`: `_id` comes from the record, so that references to it
 * remain valid.
 */
export function recordInserter(
  program: Program,
  table: Table,
  connection: Connection,
  keepsIds: boolean,
): InsertRecord {
  const columns = keepsIds ? [table.id, ...table.columns] : table.columns
  const fields = columns.map((column): [Column, Decoder, Binder, (() => Value) | undefined] => {
    const fallback = defaultOf(column)
    return [column, decoder(column.type), binder(storedEncoding(column)), fallback && pureValue(fallback)]
  })
  const names = columns.map(({name}) => quoted(name)).join(', ')
  const into = quoted(table.sqlName)
  const sql =
    columns.length === 0
      ? `INSERT INTO ${into} DEFAULT VALUES`
      : `INSERT INTO ${into} (${names}) VALUES (${columns.map(() => '?').join(', ')})`
  const known = new Set(columns.map(({name}) => name))
  const topics = topicsOf(program).get(table.name) ?? []
  return (record) => {
    if (!isObject(record)) throw new BadRecord('a record must be a JSON object')
    const strange = Object.keys(record).find((name) => !known.has(name))
    if (strange !== undefined) throw new BadRecord(`table ${table.name} has no column ${strange}`)
    const values = fields.map(([column, decode, bind, fallback]) => {
      if (fallback !== undefined && !Object.hasOwn(record, column.name)) return bind(fallback())
      if (!Object.hasOwn(record, column.name) && !column.nullable)
        throw new BadRecord(`column ${column.name} is missing`)
      try {
        return bind(decode(record[column.name] ?? null))
      } catch (error) {
        if (error instanceof TypeMismatch) throw new BadRecord(`column ${column.name} must be ${error.expected}`)
        throw error
      }
    })
    try {
      const id = connection.insert(sql, values, table)
      for (const topic of topics) insertChange(connection, {topic, table: table.name, id, kind: 'insert'})
      return id
    } catch (error) {
      throw databaseFailure(error, {table})
    }
  }
}

/** A row whose reference the database would refuse at the end of the transaction. */
export function danglingReference({database}: Connection): {place: string; fault: string} | undefined {
  const rows = database.pragma('foreign_key_check') as {table: string; rowid: number; parent: string}[]
  const [first] = rows
  return first && {place: `row ${first.rowid} of ${first.table}`, fault: `refers to a missing row of ${first.parent}`}
}

/** The rows of a table as JSON, oldest first. */
export function* readRecords(table: Table, connection: Connection, limit?: number): Generator<object> {
  const columns = [table.id, ...table.columns]
  const decode = rowDecoder(columns)
  const names = columns.map(({name}) => quoted(name)).join(', ')
  const sql = `SELECT ${names} FROM ${quoted(table.sqlName)} ORDER BY "_id" LIMIT ?`
  // Not from the cache: a statement cannot be shared while it is being iterated.
  const rows = connection.database.prepare<[bigint], Record<string, unknown>>(sql).iterate(BigInt(limit ?? -1))
  for (const row of rows) yield toJson(decode(row)) as object
}
