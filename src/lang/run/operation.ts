import type {Table} from '../check/index.js'
import type {Param, Plan} from '../plan/index.js'
import {type Bound, binder, rowDecoder} from './bind.js'
import {insertChange} from './change-log.js'
import type {Context} from './context.js'
import {databaseFailure, Failure} from './failure.js'
import {isObject, type Value} from './value.js'

/** Returns a function that evaluates a parameter in the frame of the handler. */
export type ReadParam<F> = (param: Param) => (frame: F) => Value

/** Runs a planned operation. @throws DatabaseFailure, Failure */
export type Operation<F> = (frame: F, context: Context) => Value

/**
 * Prepares an operation: parameter binding and row decoding are selected once. Writes are recorded in the change log
 * for each topic of the table, in the same transaction.
 */
export function operation<F>(plan: Plan, topics: readonly string[], read: ReadParam<F>): Operation<F> {
  const params = plan.params.map((param) => {
    const evaluate = read(param)
    const bind = binder(param.encoding)
    const {field} = param
    if (field === undefined) return (frame: F): Bound => bind(evaluate(frame))
    return (frame: F): Bound => {
      const record = evaluate(frame)
      if (!isObject(record)) throw new Failure('NOT_STORABLE', 'the inserted value is not a record')
      return bind(Object.hasOwn(record, field) ? record[field] : null)
    }
  })
  const count = params.length
  const bound = (frame: F): Bound[] => {
    const values = new Array<Bound>(count)
    for (let i = 0; i < count; i++) values[i] = (params[i] as (frame: F) => Bound)(frame)
    return values
  }
  const run = runner(plan, topics)
  return (frame, context) => {
    const values = bound(frame)
    return context.once(() => {
      if (plan.retrieval !== undefined) context.retrieval = plan.retrieval
      try {
        return run(values, context)
      } catch (error) {
        throw databaseFailure(error, plan.chain.table)
      }
    })
  }
}

type Run = (values: readonly Bound[], context: Context) => Value

function runner({op, sql, columns, chain, params}: Plan, topics: readonly string[]): Run {
  const {table} = chain
  switch (op) {
    case 'insert':
      return logged(
        table,
        'insert',
        topics,
        (values, {connection}) => connection.insert(sql, values, table),
        (id) => id as number,
      )
    case 'update':
    case 'delete': {
      // `_id` is the last parameter of an update and the only one of a delete.
      const idAt = params.length - 1
      const change = (values: readonly Bound[], {connection}: Context) =>
        connection.statement(sql).run(...values).changes > 0
      return logged(table, op, topics, change, (changed, values) =>
        changed === true ? Number(values[idAt]) : undefined,
      )
    }
    case 'get': {
      const decode = rowDecoder(columns)
      return (values, {connection}) => {
        const row = connection.statement(sql).get(...values)
        return row === undefined ? null : decode(row)
      }
    }
    case 'count':
      return (values, {connection}) => Object.values(connection.statement(sql).get(...values) ?? {})[0]
    case 'unsafe_query_raw_clause':
      return () => {
        throw new Failure('unsafe_query_raw_clause', 'raw SQL clauses are not allowed')
      }
    default: {
      const decode = rowDecoder(columns)
      return (values, {connection}) => {
        const rows = connection.statement(sql).all(...values)
        for (const row of rows) decode(row)
        return rows
      }
    }
  }
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
