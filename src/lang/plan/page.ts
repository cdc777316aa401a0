import type {Chain, Column, Ir} from '../check/index.js'
import {keyEncoding} from './predicate.js'
import {orderOf, quoted, type SqlWriter} from './sql.js'

/** A sort key of a page, of which the cursor contains the value in the last row. */
export interface PageKey {
  readonly column: Column
  readonly direction: 'asc' | 'desc'
}

/** The keys of the order of a page; the last one is the id, which makes it total. */
export function pageKeys({table, orderBy}: Chain): PageKey[] {
  const keys = orderBy.map(([column, direction]) => ({column, direction}))
  const idAt = keys.findIndex(({column}) => column === table.id)
  return idAt === -1 ? [...keys, {column: table.id, direction: 'asc'}] : keys.slice(0, idAt + 1)
}

/** The name of a key among the columns of a result. */
export const keyName = (i: number): string => `_k${i}`

export const keyColumns = (keys: readonly PageKey[]): string[] =>
  keys.map(({column}, i) => `${orderOf(column)} AS ${quoted(keyName(i))}`)

/**
 * The rows after those of a cursor. The condition begins with a range of the first key, for which SQLite can use an
 * index.
 */
export function writeAfter(sql: SqlWriter, keys: readonly PageKey[], after: Ir): void {
  const cursor = new CursorWriter(sql, keys, after)
  const [first] = keys
  if (first === undefined) return
  if (keys.length > 1 && !first.column.nullable) {
    sql.add(`${orderOf(first.column)} ${first.direction === 'asc' ? '>=' : '<='} `)
    cursor.param(0)
    sql.add(' AND ')
  }
  cursor.write(0)
}

/** NULL is less than every value, as in the order of SQLite. */
class CursorWriter {
  readonly #sql: SqlWriter
  readonly #keys: readonly PageKey[]
  readonly #after: Ir

  constructor(sql: SqlWriter, keys: readonly PageKey[], after: Ir) {
    this.#sql = sql
    this.#keys = keys
    this.#after = after
  }

  param(i: number): void {
    const {column} = this.#keys[i] as PageKey
    this.#sql.param(this.#after, {
      cursor: i,
      of: cursorId(this.#keys),
      encoding: column.base.kind === 'sum' ? 'integer' : String(keyEncoding(column)),
    })
  }

  /** The rows after the cursor, by the keys from one on. */
  write(i: number): void {
    const key = this.#keys[i] as PageKey
    const isLast = i === this.#keys.length - 1
    if (isLast) {
      this.#follows(i, key)
      return
    }
    this.#sql.add('(')
    this.#follows(i, key)
    this.#sql.add(` OR (${orderOf(key.column)} ${key.column.nullable ? 'IS' : '='} `)
    this.param(i)
    this.#sql.add(' AND ')
    this.write(i + 1)
    this.#sql.add('))')
  }

  #follows(i: number, {column, direction}: PageKey): void {
    const name = orderOf(column)
    const compare = direction === 'asc' ? '>' : '<'
    if (!column.nullable) {
      this.#sql.add(`${name} ${compare} `)
      this.param(i)
      return
    }
    this.#sql.add(direction === 'asc' ? `(${name} > ` : `(${name} < `)
    this.param(i)
    this.#sql.add(direction === 'asc' ? ` OR (${name} IS NOT NULL AND ` : ` OR (${name} IS NULL AND `)
    this.param(i)
    this.#sql.add(direction === 'asc' ? ' IS NULL))' : ' IS NOT NULL))')
  }
}

/** Identifies the order of a page, so that the cursor of another one is refused. */
export const cursorId = (keys: readonly PageKey[]): string =>
  keys.map(({column, direction}) => `${column.name} ${direction}`).join(',')
