import type {Chain, ChainOp, Column, Ir, Predicate, RetrievalMode, Table} from '../check/index.js'
import {isTrivial, simplify, writePredicate} from './predicate.js'
import {planRetrieval, type Retrieval} from './retrieval.js'
import {type Encoding, keyOf, type Param, quoted, SqlWriter} from './sql.js'

/** An operation as one SQL statement with constant text; only its parameters vary. */
export interface Plan {
  chain: Chain
  op: ChainOp
  sql: string
  params: readonly Param[]
  /** The columns of the returned rows, `_id` first. */
  columns: readonly Column[]
  /** The retrieval mode, if the operation uses `matches` or `near`. */
  retrieval: RetrievalMode | 'contains' | undefined
}

export function planChain(chain: Chain): Plan {
  const {table, op} = chain
  const sql = new SqlWriter()
  const columns = [table.id, ...(chain.select ?? table.columns)]
  let retrieval: Retrieval | undefined
  switch (op) {
    case 'insert':
      writeInsert(sql, chain)
      break
    case 'update':
      writeUpdate(sql, chain)
      break
    case 'delete':
      sql.add(`DELETE FROM ${quoted(table.sqlName)} WHERE "_id" = `).param(chain.id as Ir, 'integer')
      break
    case 'get':
      sql
        .add(`SELECT ${columnList(columns)} FROM ${quoted(table.sqlName)} WHERE "_id" = `)
        .param(chain.id as Ir, 'integer')
      break
    case 'unsafe_query_raw_clause':
      break
    default:
      retrieval = planRetrieval(chain)
      writeSelect(sql, chain, columns, retrieval)
  }
  return {chain, op, sql: sql.text, params: sql.params, columns, retrieval: retrieval?.mode}
}

const columnList = (columns: readonly Column[]): string => columns.map(({name}) => quoted(name)).join(', ')

const absent: Ir = {kind: 'const', value: null, type: {kind: 'unknown'}}

function writeInsert(sql: SqlWriter, {table, record}: Chain): void {
  const {columns} = table
  if (columns.length === 0) {
    sql.add(`INSERT INTO ${quoted(table.sqlName)} DEFAULT VALUES`)
    return
  }
  sql.add(`INSERT INTO ${quoted(table.sqlName)} (${columnList(columns)}) VALUES (`)
  for (const [i, column] of columns.entries()) {
    if (i > 0) sql.add(', ')
    const encoding = storedAs(table, column)
    if (record !== undefined && 'kind' in record) {
      sql.params.push({value: record, field: column.name, encoding})
      sql.add('?')
    } else sql.param(record?.find(([each]) => each === column)?.[1] ?? absent, encoding)
  }
  sql.add(')')
}

function storedAs({indexes}: Table, column: Column): Encoding {
  const index = indexes.find(({style, columns}) => style === 'vector' && columns.includes(column))
  return index === undefined ? column.storage : {vector: index.dimensions, storage: column.storage}
}

function writeUpdate(sql: SqlWriter, {table, record, id}: Chain): void {
  sql.add(`UPDATE ${quoted(table.sqlName)} SET `)
  const changes = record !== undefined && !('kind' in record) ? record : []
  for (const [i, [column, value]] of changes.entries()) {
    if (i > 0) sql.add(', ')
    sql.add(`${quoted(column.name)} = `).param(value, storedAs(table, column))
  }
  sql.add(' WHERE "_id" = ').param(id as Ir, 'integer')
}

function writeSelect(sql: SqlWriter, chain: Chain, columns: readonly Column[], retrieval: Retrieval | undefined): void {
  const {table, op, limit} = chain
  const counts = op === 'count'
  sql.add(`SELECT ${counts ? 'COUNT(*)' : columnList(columns)} FROM ${quoted(table.sqlName)}`)
  retrieval?.join?.(sql)
  const predicate = retrieval === undefined ? chain.predicate : retrieval.predicate
  writeWhere(sql, chain, predicate)
  if (counts) return
  writeOrder(sql, chain, retrieval)
  if (limit !== undefined) sql.add(' LIMIT ').param(limit, 'count')
}

function writeWhere(sql: SqlWriter, {table}: Chain, predicate: Predicate | undefined): void {
  const simple = predicate === undefined ? undefined : simplify(predicate)
  if (simple === undefined || isTrivial(simple)) return
  sql.add(' WHERE ')
  writePredicate(sql, table, simple)
}

/** Every order is total: `_id` breaks ties, so that pages are stable. */
function writeOrder(sql: SqlWriter, {orderBy, limit}: Chain, retrieval: Retrieval | undefined): void {
  const keys = orderBy.map(([column, direction]) => `${keyOf(column)} ${direction.toUpperCase()}`)
  const ranked = keys.length === 0 && retrieval?.order !== undefined
  if (keys.length === 0 && limit === undefined && !ranked) return
  sql.add(' ORDER BY ')
  if (ranked) {
    retrieval?.order?.(sql)
    sql.add(', ')
  }
  if (!orderBy.some(([column]) => column.name === '_id')) keys.push('"_id" ASC')
  sql.add(keys.join(', '))
}
