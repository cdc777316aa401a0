import {type Chain, type FunctionType, reachable} from '../check/index.js'
import {planChain, quoted} from '../plan/index.js'
import type {Connection} from './connection.js'

/** Rows of a table that are read in a few milliseconds. */
const fewRows = 2000
/** Rows that an operation may be limited to and count as few. */
const smallLimit = 1000

/** Finds the functions that may read so much that others had better not wait for them. */
export class ReadCost {
  readonly #connection: Connection
  /** By function, the tables of which it may read every row. */
  readonly #tables = new Map<FunctionType, readonly string[]>()

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Whether a call may read a table as a whole that has many rows now. */
  isHigh(target: FunctionType): boolean {
    let tables = this.#tables.get(target)
    if (tables === undefined) {
      const chains = [...reachable(target)].flatMap((each) => each.chains)
      tables = [...new Set(chains.filter((chain) => !this.#isBounded(chain)).map(({table}) => table.sqlName))]
      this.#tables.set(target, tables)
    }
    return tables.some((table) => this.#hasMany(quoted(table)))
  }

  /** SQLite finds the two ends of the ids at once; rows are counted, up to so many, only where they lie far apart. */
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

  /** Whether an operation reads few rows, however many there are: one by its id, or some along an index. */
  #isBounded(chain: Chain): boolean {
    const {op, limit} = chain
    if (op === 'get' || op === 'insert' || op === 'update' || op === 'delete') return true
    if (limit?.kind !== 'const' || typeof limit.value !== 'number' || limit.value > smallLimit) return false
    const {sql, params} = planChain(chain)
    const steps = this.#connection.database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(params.map(() => null)) as {
      detail: string
    }[]
    const isOrdered = !steps.some(({detail}) => detail.includes('TEMP B-TREE'))
    return isOrdered && (chain.predicate === undefined || steps.every(({detail}) => detail.startsWith('SEARCH')))
  }
}
