import type {Arg, CallExpr, Entry, Expr, Name} from '../syntax/index.js'
import {meanOf} from './builtins.js'
import {type ChainContext, hasChainArgs} from './chain-context.js'
import type {Checker} from './checker.js'
import {columnOf} from './column.js'
import type {Aggregate, AggregateFunction, Grouping} from './ir.js'
import {checkConditions} from './predicate.js'
import {objectOf} from './records.js'
import {type Column, int, isTime, option, show, storageOf, type Table, type Type, unknown} from './types.js'
import {reportRepeatedKeys} from './unknown-name.js'

/** The functions of `aggregate({…})`: the types of columns that they apply to, and the type of their result. */
const functions: Readonly<
  Record<AggregateFunction, {needs: string; applies(base: Type): boolean; result(base: Type): Type}>
> = {
  count: {needs: 'a column', applies: () => true, result: () => int},
  sum: {needs: 'a column of numbers', applies: isTotal, result: (base) => base},
  avg: {needs: 'a column of numbers', applies: isTotal, result: (base) => option(meanOf(base))},
  min: {needs: 'a column that can be ordered', applies: isOrderedColumn, result: option},
  max: {needs: 'a column that can be ordered', applies: isOrderedColumn, result: option},
}

function isTotal({kind}: Type): boolean {
  return ['int', 'float', 'dec', 'duration', 'unknown'].includes(kind)
}

function isOrderedColumn(type: Type): boolean {
  return isTotal(type) || isTime(type) || ['id', 'str', 'bool'].includes(type.kind)
}

/** The type of one result. */
export function groupType(grouping: Grouping | undefined): Type {
  if (grouping === undefined) return unknown
  const {output, isSingle} = grouping
  if (isSingle) return output.columns[0]?.type ?? unknown
  return {kind: 'object', fields: new Map(output.columns.map(({name, type}) => [name, type]))}
}

/** `sum(column)`, `avg`, `min` and `max` of all rows. */
export function checkTotal(context: ChainContext, name: Name, args: readonly Arg[]): void {
  if (!hasChainArgs(context, name, args, 1)) return
  const found = aggregateOf(context, name, args, name)
  if (found === undefined) return
  context.chain.op = 'aggregate'
  context.chain.grouping = grouped(context.table, [], [found], true)
}

/** `group_by(column, …)`, which needs `aggregate({…})`. */
export function checkGroupBy(context: ChainContext, name: Name, args: readonly Arg[]): void {
  context.chain.op = 'group'
  context.chain.groupBy = groupColumns(context, name, args)
}

/** `distinct(column, …)`: the different values of a column, or of several as objects. */
export function checkDistinct(context: ChainContext, name: Name, args: readonly Arg[]): void {
  const columns = groupColumns(context, name, args)
  context.chain.op = 'group'
  context.chain.grouping = grouped(context.table, columns, [], columns.length === 1)
}

function groupColumns({c, table}: ChainContext, name: Name, args: readonly Arg[]): Column[] {
  if (args.length === 0) c.report('typecheck.select_empty', name, `${name.text}() needs at least one column.`)
  const columns: Column[] = []
  for (const {value} of args) {
    const column = columnNamed(c, table, value)
    if (column === undefined) continue
    if (column.storage === 'json' && column.base.kind !== 'sum')
      c.report(
        'typecheck.predicate_operator',
        value,
        `Cannot group by column '${column.name}', which is stored as JSON.`,
      )
    else if (columns.includes(column))
      c.report('typecheck.duplicate_column', value, `Column '${column.name}' is used twice.`)
    else columns.push(column)
  }
  return columns
}

/** A column by its name or a string literal. */
export function columnNamed(c: Checker, table: Table, expr: Expr): Column | undefined {
  const name = expr.kind === 'str' ? expr.value : expr.kind === 'name' ? expr.name.text : undefined
  if (name !== undefined) return columnOf(c, table, expr, name)
  const hints = expr.kind === 'object' ? {hints: ['Write the column, then the direction: order_by(column, desc).']} : {}
  c.report('typecheck.column_constant', expr, 'A column must be a bare word or a string literal.', hints)
  if (expr.kind !== 'object') c.value(expr)
  return undefined
}

/** `aggregate({ total: sum(price), n: count() })`: the totals of all rows or, after `group_by`, of each group. */
export function checkAggregates(context: ChainContext, name: Name, args: readonly Arg[]): void {
  const {c, chain, table} = context
  if (!hasChainArgs(context, name, args, 1)) return
  const {value} = args[0] as Arg
  const object = objectOf(c, value)
  if (object === undefined || object.base !== undefined || object.entries.length === 0) {
    c.report('typecheck.group_shape', value, 'aggregate() needs an object of totals, such as { count: count() }.')
    return
  }
  reportRepeatedKeys(c, object)
  const by = chain.groupBy ?? []
  const aggregates = object.entries.flatMap((entry) => readAggregate(context, by, entry) ?? [])
  if (chain.op !== 'group') chain.op = 'aggregate'
  chain.grouping = grouped(table, by, aggregates, false)
}

function readAggregate(context: ChainContext, by: readonly Column[], {key, value}: Entry): Aggregate | undefined {
  const {c} = context
  const call = calledFunction(value)
  if (call === undefined) {
    const known = Object.keys(functions).join(', ')
    c.report('typecheck.group_shape', value, `'${key.text}' must be a total of the rows: ${known}.`, {
      hints: [`For example: { ${key.text}: sum(column) }`],
    })
    return undefined
  }
  if (by.some(({name}) => name === key.text))
    c.report('typecheck.duplicate_field', key, `'${key.text}' is already a column of the group; choose another name.`)
  if (key.text.startsWith('_'))
    c.report(
      'typecheck.reserved_column',
      key,
      `Name '${key.text}' is reserved: names that start with _ belong to the store.`,
    )
  return aggregateOf(context, call.name, call.args, key)
}

function calledFunction(expr: Expr): {name: Name; args: CallExpr['args']} | undefined {
  if (expr.kind !== 'call' || expr.callee.kind !== 'name') return undefined
  const {name} = expr.callee
  return Object.hasOwn(functions, name.text) ? {name, args: expr.args} : undefined
}

function aggregateOf(context: ChainContext, name: Name, args: readonly Arg[], output: Name): Aggregate | undefined {
  const {c, table} = context
  const fn = name.text as AggregateFunction
  const {needs, applies, result} = functions[fn]
  if (!hasChainArgs(context, name, args, 1, fn === 'count' ? 0 : 1)) return undefined
  const [only] = args
  const column = only === undefined ? undefined : columnNamed(c, table, only.value)
  if (only !== undefined && column === undefined) return undefined
  const base = column?.base ?? unknown
  if (!applies(base)) {
    c.report(
      'typecheck.arg_mismatch',
      only?.value ?? name,
      `${fn}() needs ${needs}; '${column?.name}' is ${show(base)}.`,
    )
    return undefined
  }
  return {fn, column, output: outputColumn(output, result(base))}
}

function outputColumn({text, start, end}: Name, type: Type): Column {
  const nullable = type.kind === 'option'
  const base = nullable ? type.of : type
  return {name: text, type, base, nullable, storage: storageOf(base), span: {start, end}}
}

function grouped(table: Table, by: readonly Column[], aggregates: readonly Aggregate[], isSingle: boolean): Grouping {
  const columns = [...by, ...aggregates.map(({output}) => output)]
  const [id = table.id] = columns
  return {by, aggregates, output: {...table, columns, indexes: [], id}, isSingle, having: undefined}
}

/** `having({…})`: conditions on the groups and their totals. */
export function checkHaving(context: ChainContext, name: Name, args: readonly Arg[]): void {
  const {c, chain} = context
  if (!hasChainArgs(context, name, args, 1)) return
  const {value} = args[0] as Arg
  if (chain.grouping !== undefined) chain.grouping.having = checkConditions(c, chain.grouping.output, value, 'having')
}
