import {type Chain, type FunctionType, reachable} from '../check/index.js'
import {planChain, quoted} from '../plan/index.js'
import type {Connection} from './connection.js'

/** Number of rows that can be read in a few milliseconds. */
const fewRows = 2000
/** Largest limit of an operation that is considered cheap. */
const smallLimit = 1000

/** Finds functions that may read so many rows that they would block other calls. */
export class ReadCost {
  readonly #connection: Connection
  /** The tables that each function may read completely. */
  readonly #tables = new Map<FunctionType, readonly string[]>()

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Whether a call may read all rows of a table that currently has many. */
  isHigh(target: FunctionType): boolean {
    let tables = this.#tables.get(target)
    if (tables === undefined) {
      const chains = [...reachable(target)].flatMap((each) => each.chains)
      tables = [...new Set(chains.filter((chain) => !this.#isBounded(chain)).map(({table}) => table.sqlName))]
      this.#tables.set(target, tables)
    }
    return tables.some((table) => this.#hasMany(quoted(table)))
  }

  /** Finding the minimum and maximum id is fast; rows are counted, up to a limit, only if the range is large. */
  #hasMany(table: string): boolean {
    const ends = this.#connection
      .statement(`SELECT (SELECT max("_id") FROM ${table}) - (SELECT min("_id") FROM ${table}) AS span`)
      .get() as {span: number | null}
    if ((ends.span ?? 0) < fewRows) return false
    const counted = this.#connection
      .statement(`SELECT count(*) AS rows FROM (SELECT 1 FROM ${table} LIMIT ${fewRows + 1})`)
      .get() as {rows: number}
    return counted.rows > fewRows
  }

  /** Whether an operation reads few rows of a table of any size: one by its id, or some through an index. */
  #isBounded(chain: Chain): boolean {
    const {op, limit} = chain
    if (op === 'get' || op === 'insert' || op === 'upsert' || op === 'update' || op === 'delete') return true
    if (limit?.kind !== 'const' || typeof limit.value !== 'number' || limit.value > smallLimit) return false
    const {sql, params} = planChain(chain)
    const steps = this.#connection.database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(params.map(() => null)) as {
      detail: string
    }[]
    const isOrdered = !steps.some(({detail}) => detail.includes('TEMP B-TREE'))
    return isOrdered && (chain.predicate === undefined || steps.every(({detail}) => detail.startsWith('SEARCH')))
  }
}
