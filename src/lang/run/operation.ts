import type {Grouping, Table} from '../check/index.js'
import type {Param, Plan} from '../plan/index.js'
import {type Bound, binder, rowDecoder} from './bind.js'
import {loggedCascade} from './cascade.js'
import {insertChange} from './change-log.js'
import type {Connection, Rows} from './connection.js'
import type {Context, Run} from './context.js'
import {databaseFailure, Failure} from './failure.js'
import {decoderOf} from './included.js'
import {page} from './page.js'
import {isObject, type Value} from './value.js'

/** Returns a function that evaluates a parameter in the frame of the handler. */
export type ReadParam<F> = (param: Param) => (frame: F) => Value

/** Runs a planned operation. @throws DatabaseFailure, Failure */
export type Operation<F> = (frame: F, context: Context) => Value

/**
 * Prepares an operation: parameter binding and row decoding are selected once. Writes are recorded in the change log
 * for each topic of the table, in the same transaction.
 */
export function operation<F>(
  plan: Plan,
  topics: ReadonlyMap<string, readonly string[]>,
  read: ReadParam<F>,
): Operation<F> {
  const bound = boundValues(plan.params, read)
  const run = runner(plan, topics)
  return (frame, context) => {
    const values = bound(frame)
    return context.once(() => {
      if (plan.retrieval !== undefined) context.retrieval = plan.retrieval
      try {
        return run(values, context)
      } catch (error) {
        throw databaseFailure(error, plan.chain)
      }
    })
  }
}

/** Evaluates each value of the parameters once, in text order, and binds it. */
function boundValues<F>(params: readonly Param[], read: ReadParam<F>): (frame: F) => Bound[] {
  const sources = [...new Map(params.map((param) => [param.value, param])).values()]
  const evaluators = sources.map(read)
  const binders = params.map(({value, field, encoding}) => {
    const bind = binder(encoding)
    const at = sources.findIndex((source) => source.value === value)
    if (field === undefined) return (values: readonly Value[]): Bound => bind(values[at])
    return (values: readonly Value[]): Bound => {
      const record = values[at]
      if (!isObject(record)) throw new Failure('NOT_STORABLE', 'the inserted value is not a record')
      return bind(Object.hasOwn(record, field) ? record[field] : null)
    }
  })
  const [count, size] = [evaluators.length, binders.length]
  return (frame) => {
    const values = new Array<Value>(count)
    for (let i = 0; i < count; i++) values[i] = (evaluators[i] as (frame: F) => Value)(frame)
    const bound = new Array<Bound>(size)
    for (let i = 0; i < size; i++) bound[i] = (binders[i] as (values: readonly Value[]) => Bound)(values)
    return bound
  }
}

function runner(plan: Plan, allTopics: ReadonlyMap<string, readonly string[]>): Run {
  const {op, sql, columns, chain, params} = plan
  const {table} = chain
  const topics = allTopics.get(table.name) ?? []
  switch (op) {
    case 'insert':
      return logged(
        table,
        'insert',
        topics,
        (values, {connection}) => connection.insert(sql, values, table),
        (id) => id as number,
      )
    case 'upsert':
      return upsert(plan, topics)
    case 'update_where':
      return writeMany(plan, topics)
    case 'delete_where': {
      const matching = sql.replace(/^DELETE/, 'SELECT "_id"')
      const idsOf = (values: readonly Bound[], connection: Connection) =>
        connection
          .statement(matching)
          .all(...values)
          .map(({_id: id}) => id as number)
      return loggedCascade(table, allTopics, idsOf, writeMany(plan, topics))
    }
    case 'update':
    case 'delete': {
      // `_id` is the last parameter of an update and the only one of a delete.
      const idAt = params.length - 1
      const change = (values: readonly Bound[], {connection}: Context) =>
        connection.statement(sql).run(...values).changes > 0
      const write = logged(table, op, topics, change, (changed, values) =>
        changed === true ? Number(values[idAt]) : undefined,
      )
      return op === 'update' ? write : loggedCascade(table, allTopics, (values) => [Number(values[idAt])], write)
    }
    case 'get': {
      const decode = rowDecoder(columns)
      return (values, {connection}) => {
        const row = connection.statement(sql).get(...values)
        return row === undefined ? null : decode(row)
      }
    }
    case 'exists':
      return (values, {connection}) => (connection.statement(sql).get(...values) as {exists: number}).exists === 1
    case 'count':
      return (values, {connection}) => Object.values(connection.statement(sql).get(...values) ?? {})[0]
    case 'unsafe_query_raw_clause':
      return () => {
        throw new Failure('unsafe_query_raw_clause', 'raw SQL clauses are not allowed')
      }
    case 'aggregate':
    case 'group':
      return summary(plan)
    case 'page':
      return page(plan)
    default: {
      const decode = decoderOf(plan)
      return (values, {connection}) => {
        const rows = connection.statement(sql).all(...values)
        for (const row of rows) decode(row)
        return rows
      }
    }
  }
}

/** Returns totals: of all rows or of each group. */
function summary({op, sql, chain: {grouping}}: Plan): Run {
  const {output, aggregates, isSingle} = grouping as Grouping
  const decode = rowDecoder(output.columns)
  const sums = aggregates.filter(({fn, output: {storage}}) => fn === 'sum' && storage === 'integer')
  const [only] = output.columns
  const read = (row: Rows): Value => {
    for (const {
      output: {name},
    } of sums)
      if (!Number.isSafeInteger(row[name]))
        throw new Failure('INT_OVERFLOW', `the sum ${name} exceeds ±${Number.MAX_SAFE_INTEGER}`)
    const decoded = decode(row)
    return isSingle ? decoded[only?.name ?? ''] : decoded
  }
  if (op === 'group')
    return (values, {connection}) =>
      connection
        .statement(sql)
        .all(...values)
        .map(read)
  return (values, {connection}) => read(connection.statement(sql).get(...values) as Rows)
}

/** Returns the id of the inserted or changed row. Ids only grow, so a new one is greater than all before. */
function upsert({sql, chain: {table}}: Plan, topics: readonly string[]): Run {
  const write: Run = (values, {connection}) => (connection.statement(sql).get(...values) as {_id: number})._id
  if (topics.length === 0) return write
  return (values, context) =>
    context.connection.together(() => {
      const last = context.connection.lastId(table)
      const id = write(values, context) as number
      const kind = id > last ? 'insert' : 'update'
      for (const topic of topics) insertChange(context.connection, {topic, table: table.name, id, kind})
      return id
    })
}

/** Changes all rows that match, and returns their number. */
function writeMany({op, sql, chain: {table}}: Plan, topics: readonly string[]): Run {
  if (topics.length === 0) return (values, {connection}) => connection.statement(sql).run(...values).changes
  const kind = op === 'update_where' ? 'update' : 'delete'
  return (values, context) =>
    context.connection.together(() => {
      const rows = context.connection.statement(`${sql} RETURNING "_id"`).all(...values)
      for (const {_id: id} of rows)
        for (const topic of topics) insertChange(context.connection, {topic, table: table.name, id: id as number, kind})
      return rows.length
    })
}

function logged(
  table: Table,
  kind: 'insert' | 'update' | 'delete',
  topics: readonly string[],
  write: Run,
  changedId: (result: Value, values: readonly Bound[]) => number | undefined,
): Run {
  if (topics.length === 0) return write
  return (values, context) =>
    context.connection.together(() => {
      const result = write(values, context)
      const id = changedId(result, values)
      if (id !== undefined)
        for (const topic of topics) insertChange(context.connection, {topic, table: table.name, id, kind})
      return result
    })
}
