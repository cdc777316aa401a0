import {
  type Chain,
  type ChainOp,
  type Column,
  defaultOf,
  type Ir,
  type Predicate,
  type RetrievalMode,
  type Table,
} from '../check/index.js'
import {writeGroups} from './groups.js'
import {includedColumns} from './include.js'
import {keyColumns, pageKeys, writeAfter} from './page.js'
import {isTrivial, simplify, writePredicate} from './predicate.js'
import {planRetrieval, type Retrieval} from './retrieval.js'
import {type Encoding, keyOf, orderOf, type Param, quoted, SqlWriter, storedEncoding} from './sql.js'

/** An operation as one SQL statement with constant text; only its parameters vary. */
export interface Plan {
  chain: Chain
  op: ChainOp
  sql: string
  params: readonly Param[]
  /** The columns of the returned rows, `_id` first. */
  columns: readonly Column[]
  /** Of a page: the statement of the first one, which has no cursor. */
  first?: {sql: string; params: readonly Param[]}
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
    case 'upsert':
      writeUpsert(sql, chain)
      break
    case 'update':
    case 'update_where':
      writeUpdate(sql, chain)
      writeTarget(sql, chain)
      break
    case 'delete':
    case 'delete_where':
      sql.add(`DELETE FROM ${quoted(table.sqlName)}`)
      writeTarget(sql, chain)
      break
    case 'exists':
      sql.add(`SELECT EXISTS (SELECT 1 FROM ${quoted(table.sqlName)}`)
      writeWhere(sql, chain, chain.predicate)
      sql.add(') AS "exists"')
      break
    case 'get':
      sql
        .add(`SELECT ${columnList(columns)} FROM ${quoted(table.sqlName)} WHERE "_id" = `)
        .param(chain.id as Ir, 'integer')
      break
    case 'aggregate':
    case 'group':
      if (chain.grouping !== undefined) {
        const parts = {where: () => writeWhere(sql, chain, chain.predicate), limit: () => writeLimit(sql, chain)}
        writeGroups(sql, chain, chain.grouping, parts)
      }
      break
    case 'page': {
      const first = new SqlWriter()
      writePage(first, chain, columns)
      writePage(sql, chain, columns, chain.after)
      return {
        chain,
        op,
        sql: sql.text,
        params: sql.params,
        columns,
        retrieval: undefined,
        first: {sql: first.text, params: first.params},
      }
    }
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
    if (record !== undefined && 'kind' in record && column.stamp === undefined && !lacks(record, column)) {
      sql.params.push({value: record, field: column.name, encoding})
      sql.add('?')
    } else sql.param(givenValue(record, column) ?? defaultOf(column) ?? absent, encoding)
  }
  sql.add(')')
}

/** Whether a record has no field for a column, which then gets its default. */
const lacks = ({type}: Ir, {name, fallback}: Column): boolean =>
  fallback !== undefined &&
  ((type.kind === 'record' && !type.record.fields.some((field) => field.name === name)) ||
    (type.kind === 'object' && !type.fields.has(name)) ||
    (type.kind === 'row' && type.selected?.has(name) === false))

const givenValue = (record: Chain['record'], column: Column): Ir | undefined =>
  record === undefined || 'kind' in record ? undefined : record.find(([each]) => each === column)?.[1]

function storedAs({indexes}: Table, column: Column): Encoding {
  const index = indexes.find(({style, columns}) => style === 'vector' && columns.includes(column))
  return index === undefined ? storedEncoding(column) : {vector: index.dimensions, storage: column.storage}
}

/** Inserts a row, or changes the one with the same key. */
function writeUpsert(sql: SqlWriter, chain: Chain): void {
  const {table, key, record, changes} = chain
  const keys = key?.columns ?? []
  const listed = record !== undefined && !('kind' in record) ? record.map(([column]) => column) : undefined
  const given = table.columns.filter((column) =>
    column.stamp === undefined ? (listed?.includes(column) ?? true) : column.stamp === 'updated_at',
  )
  const replaced = given.filter((column) => !keys.includes(column))
  writeInsert(sql, chain)
  sql.add(` ON CONFLICT (${keys.map(keyOf).join(', ')}) DO UPDATE SET `)
  if (changes.length > 0) writeChanges(sql, chain)
  else {
    // Without anything to change, the key stays the same; the statement still returns the row.
    const columns = (replaced.length > 0 ? replaced : keys).map(({name}) => quoted(name))
    sql.add(columns.map((name) => `${name} = excluded.${name}`).join(', '))
  }
  sql.add(' RETURNING "_id"')
}

function writeUpdate(sql: SqlWriter, chain: Chain): void {
  sql.add(`UPDATE ${quoted(chain.table.sqlName)} SET `)
  writeChanges(sql, chain)
}

function writeChanges(sql: SqlWriter, {table, changes: given}: Chain): void {
  const stamped = table.columns.filter(({stamp}) => stamp === 'updated_at')
  const changes = [
    ...given,
    ...stamped.map((column) => ({column, value: defaultOf(column) ?? absent, increments: false})),
  ]
  for (const [i, {column, value, increments}] of changes.entries()) {
    const name = quoted(column.name)
    if (i > 0) sql.add(', ')
    sql.add(`${name} = `)
    if (!increments) sql.param(value, storedAs(table, column))
    // The sum must be one that the language can represent.
    else
      sql
        .add(`svc_${column.storage === 'millis' ? 'int' : column.base.kind}_add(${name}, `)
        .param(value, column.storage)
        .add(')')
  }
}

/** The rows that a write changes: one by its id, or all that match. */
function writeTarget(sql: SqlWriter, chain: Chain): void {
  if (chain.op === 'update' || chain.op === 'delete') sql.add(' WHERE "_id" = ').param(chain.id as Ir, 'integer')
  else writeWhere(sql, chain, chain.predicate)
}

function writeSelect(sql: SqlWriter, chain: Chain, columns: readonly Column[], retrieval: Retrieval | undefined): void {
  const {table, op} = chain
  const counts = op === 'count'
  sql.add(
    `SELECT ${counts ? 'COUNT(*)' : [columnList(columns), ...includedColumns(chain)].join(', ')} FROM ${quoted(table.sqlName)}`,
  )
  retrieval?.join?.(sql)
  const predicate = retrieval === undefined ? chain.predicate : retrieval.predicate
  writeWhere(sql, chain, predicate)
  if (counts) return
  writeOrder(sql, chain, retrieval)
  writeLimit(sql, chain)
}

function writeLimit(sql: SqlWriter, {limit, offset}: Chain): void {
  if (limit !== undefined) sql.add(' LIMIT ').param(limit, 'count')
  else if (offset !== undefined) sql.add(' LIMIT -1')
  if (offset !== undefined) sql.add(' OFFSET ').param(offset, 'count')
}

/** Reads one more row than the page has: then there is a next page. */
function writePage(sql: SqlWriter, chain: Chain, columns: readonly Column[], after?: Ir): void {
  const {table, predicate, limit} = chain
  const keys = pageKeys(chain)
  const listed = [columnList(columns), ...includedColumns(chain), ...keyColumns(keys)]
  sql.add(`SELECT ${listed.join(', ')} FROM ${quoted(table.sqlName)}`)
  const simple = predicate === undefined ? undefined : simplify(predicate)
  const isFiltered = simple !== undefined && !isTrivial(simple)
  if (isFiltered || after !== undefined) sql.add(' WHERE ')
  if (isFiltered) writePredicate(sql, table, simple, after !== undefined)
  if (isFiltered && after !== undefined) sql.add(' AND ')
  if (after !== undefined) writeAfter(sql, keys, after)
  writeOrder(sql, chain, undefined)
  sql.add(' LIMIT ').param(limit as Ir, 'page')
}

function writeWhere(sql: SqlWriter, {table}: Chain, predicate: Predicate | undefined): void {
  const simple = predicate === undefined ? undefined : simplify(predicate)
  if (simple === undefined || isTrivial(simple)) return
  sql.add(' WHERE ')
  writePredicate(sql, table, simple)
}

/** Every order is total: `_id` breaks ties, so that pages are stable. */
function writeOrder(sql: SqlWriter, {orderBy, limit, offset}: Chain, retrieval: Retrieval | undefined): void {
  const keys = orderBy.map(([column, direction]) => `${orderOf(column)} ${direction.toUpperCase()}`)
  const ranked = keys.length === 0 && retrieval?.order !== undefined
  if (keys.length === 0 && limit === undefined && offset === undefined && !ranked) return
  sql.add(' ORDER BY ')
  if (ranked) {
    retrieval?.order?.(sql)
    sql.add(', ')
  }
  if (!orderBy.some(([column]) => column.name === '_id')) keys.push('"_id" ASC')
  sql.add(keys.join(', '))
}
