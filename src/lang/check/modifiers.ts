import type {Arg, Expr, Name} from '../syntax/index.js'
import {type ChainContext, hasChainArgs, type Link, writes} from './chain-context.js'
import type {Checker} from './checker.js'
import {checkAggregates, checkDistinct, checkGroupBy, checkHaving, checkTotal, columnNamed} from './grouping.js'
import {checkInclude} from './include.js'
import type {Chain, ChainOp} from './ir.js'
import {objectOf} from './records.js'
import {readChanges} from './stored-record.js'
import {type Column, int, isUnknown, option, str} from './types.js'

type Modifier = (context: ChainContext, name: Name, args: readonly Arg[]) => void

/** Modifiers that can follow the head of a chain. */
export const modifiers: Readonly<Record<string, Modifier>> = {
  order_by: orderBy,
  limit: bound('limit'),
  offset: bound('offset'),
  select,
  count: (context, name, args) => {
    if (hasChainArgs(context, name, args, 0)) context.chain.op = 'count'
  },
  sum: checkTotal,
  avg: checkTotal,
  min: checkTotal,
  max: checkTotal,
  group_by: checkGroupBy,
  aggregate: checkAggregates,
  having: checkHaving,
  filter: secondCondition,
  where: secondCondition,
  distinct: checkDistinct,
  include: checkInclude,
  page,
  exists: (context, name, args) => {
    if (hasChainArgs(context, name, args, 0)) context.chain.op = 'exists'
  },
  update: (context, name, args) => {
    if (!hasChainArgs(context, name, args, 1)) return
    const {value} = args[0] as Arg
    context.chain.op = 'update_where'
    context.chain.changes = readChanges(context, value)
  },
  delete: (context, name, args) => {
    if (hasChainArgs(context, name, args, 0)) context.chain.op = 'delete_where'
  },
  all: (context, name, args) => {
    hasChainArgs(context, name, args, 0)
  },
  sync: (context, name, args) => {
    if (hasChainArgs(context, name, args, 0)) context.chain.sync = true
  },
  using: hint,
  live: hint,
  scope: hint,
}

/** Modifiers that can also follow the table itself, and then apply to all its rows. */
export const startsRows: ReadonlySet<string> = new Set([
  ...['order_by', 'limit', 'offset', 'select', 'exists', 'include', 'page', 'sync', 'using', 'live', 'scope'],
  ...['sum', 'avg', 'min', 'max', 'group_by', 'aggregate', 'distinct'],
])

/** Modifiers that change the plan but not the result; valid on every read operation. */
const hints: ReadonlySet<string> = new Set(['sync', 'using', 'live', 'scope'])
const repeatable: ReadonlySet<string> = new Set(['order_by', 'all', 'sync'])

/** Modifiers that are also methods of lists, which take no column. */
const alsoMethods: ReadonlySet<string> = new Set(['sum', 'avg', 'min', 'max', 'distinct', 'group_by'])

/** Whether a link belongs to the operation, and is not a method of its result. */
export function isModifier(c: Checker, {name, args}: Link): boolean {
  if (name.text === 'filter') return args?.[0] !== undefined && objectOf(c, args[0].value) !== undefined
  if (!alsoMethods.has(name.text)) return Object.hasOwn(modifiers, name.text)
  const first = args?.[0]?.value
  if (first?.kind === 'str') return true
  return first?.kind === 'name' && !isFunction(c, first.name.text)
}

/** Whether a name is a function or may be one, so that it is not a column. */
function isFunction(c: Checker, name: string): boolean {
  const type = c.scope.find(name)?.type
  return type === undefined ? c.declarations.functions.has(name) : type.kind === 'function' || isUnknown(type)
}

/** Operations on rows, which modifiers can shape. */
const ofRows: ReadonlySet<ChainOp> = new Set(['all', 'filter_record'])
/** Modifiers that replace the rows by a single result of all of them. */
const results: ReadonlySet<string> = new Set([
  ...['count', 'exists', 'update', 'delete'],
  ...['sum', 'avg', 'min', 'max', 'group_by', 'aggregate', 'distinct'],
])
/** Modifiers of groups, in addition to hints. */
const ofGroups: ReadonlySet<string> = new Set(['order_by', 'limit', 'offset', 'having'])

export function applyModifier(context: ChainContext, {name, args}: Link, seen: Set<string>): void {
  const {c, head, chain} = context
  const {op} = chain
  const {text} = name
  if (args === undefined) {
    c.report('typecheck.modifier', name, `${text} needs parentheses: .${text}(...).`)
    return
  }
  const isHint = hints.has(text)
  const after = [...seen].findLast((each) => results.has(each)) ?? head.text
  if (writes.has(op) || (op === 'get' && !isHint))
    c.report('typecheck.modifier', name, `.${text}() cannot follow ${after}().`)
  else if (op === 'group' ? !isForGroups(chain, text) : text === 'having')
    c.report('typecheck.modifier', name, groupFault(chain, text))
  else if (op === 'page' && !isHint && !(text === 'order_by' || text === 'select' || text === 'include'))
    c.report('typecheck.modifier', name, `.${text}() cannot be combined with page().`)
  else if (!ofRows.has(op) && op !== 'group' && op !== 'page' && !isHint && text !== 'all')
    c.report('typecheck.count_modifier', name, `${after}() cannot be combined with order_by, limit or select.`)
  else if (results.has(text) && isShaped(chain))
    c.report('typecheck.count_modifier', name, `${text}() cannot be combined with order_by, limit or select.`)
  else if (seen.has(text) && !repeatable.has(text))
    c.report('typecheck.duplicate_modifier', name, `Duplicate modifier .${text}().`)
  else modifiers[text]?.(context, name, args)
  seen.add(text)
}

const isShaped = ({orderBy: order, limit, offset, select: columns, included}: Chain) =>
  order.length > 0 || limit !== undefined || offset !== undefined || columns !== undefined || included.length > 0

const isForGroups = ({grouping}: Chain, text: string): boolean =>
  hints.has(text) || (grouping === undefined ? text === 'aggregate' : ofGroups.has(text))

function groupFault({op, grouping}: Chain, text: string): string {
  if (op !== 'group') return `.${text}() needs groups: .group_by(column).aggregate({..}).`
  return grouping === undefined
    ? `.${text}() cannot follow group_by(); add .aggregate({..}) first.`
    : `.${text}() cannot be combined with groups.`
}

function secondCondition({c, head}: ChainContext, name: Name): void {
  c.report(
    'typecheck.modifier',
    name,
    `.${name.text}() cannot follow ${head.text}(); put all conditions into one where({..}).`,
  )
}

function orderBy(context: ChainContext, name: Name, args: readonly Arg[]): void {
  const {c, chain} = context
  if (args.length !== 2 && !hasChainArgs(context, name, args, 1)) return
  const [first, second] = args as readonly [Arg, Arg | undefined]
  const column = columnArgument(context, first.value)
  const direction = second === undefined ? 'asc' : constantOf(second.value)?.toLowerCase()
  if (direction !== 'asc' && direction !== 'desc')
    c.report('typecheck.order_direction', second?.value ?? name, 'order_by direction must be asc or desc.')
  else if (column?.storage === 'json')
    c.report(
      'typecheck.predicate_operator',
      first.value,
      `Cannot order by column '${column.name}', which is stored as JSON.`,
    )
  else if (column !== undefined) chain.orderBy.push([column, direction])
}

function bound(which: 'limit' | 'offset'): Modifier {
  return (context, name, args) => {
    const {c, chain} = context
    if (!hasChainArgs(context, name, args, 1)) return
    const {value} = args[0] as Arg
    if (value.kind === 'unary' && value.operator === '-' && value.operand.kind === 'int')
      c.report('typecheck.limit_negative', value, `${which} must not be negative.`)
    else chain[which] = c.check(value, int)
  }
}

function select(context: ChainContext, name: Name, args: readonly Arg[]): void {
  const {c, chain, table} = context
  const [only] = args
  const columns = args.length === 1 && only?.value.kind === 'list' ? only.value.items : args.map(({value}) => value)
  if (columns.length === 0) {
    c.report('typecheck.select_empty', name, 'select() needs at least one column.')
    return
  }
  const chosen = new Set<Column>()
  for (const expr of columns) {
    const column = columnArgument(context, expr)
    if (column === undefined) continue
    if (chosen.has(column)) c.report('typecheck.duplicate_column', expr, `Column '${column.name}' is selected twice.`)
    chosen.add(column)
  }
  chain.select = table.columns.filter((column) => chosen.has(column))
}

const columnArgument = ({c, table, chain}: ChainContext, expr: Expr): Column | undefined =>
  columnNamed(c, chain.grouping?.output ?? table, expr)

function hint(context: ChainContext, name: Name, args: readonly Arg[]): void {
  const {c, chain} = context
  if (!hasChainArgs(context, name, args, 1)) return
  const {value} = args[0] as Arg
  const text = constantOf(value)
  if (text === undefined || (value.kind === 'name' && c.scope.find(text) !== undefined))
    c.report('typecheck.hint_constant', value, `The argument of .${name.text}() must be a constant.`)
  else if (name.text === 'scope') chain.scope = text
  else if (name.text === 'using') {
    const mode = text === 'search' ? 'fts' : text
    if (mode === 'fts' || mode === 'vector' || mode === 'hybrid') chain.using = mode
    else c.report('typecheck.retrieval_mode', value, `Unknown retrieval mode '${text}'; use fts, vector or hybrid.`)
  } else if (/^[A-Za-z0-9._:-]{1,128}$/.test(text)) chain.live = text
  else c.report('typecheck.hint_constant', value, 'A topic must be 1 to 128 characters: letters, digits, . _ : or -.')
}

/** `page(size, after)`: the rows after a cursor, in a total order. */
function page(context: ChainContext, name: Name, args: readonly Arg[]): void {
  const {c, chain} = context
  if (!hasChainArgs(context, name, args, 2, 1)) return
  if (chain.limit !== undefined || chain.offset !== undefined) {
    c.report('typecheck.modifier', name, '.page() cannot be combined with limit or offset.')
    return
  }
  const [size, after] = args as readonly [Arg, Arg | undefined]
  chain.op = 'page'
  chain.limit = c.check(size.value, int)
  chain.after = after === undefined ? undefined : c.check(after.value, option(str), 'slot')
}

/** A string literal or a bare word. */
const constantOf = (expr: Expr): string | undefined =>
  expr.kind === 'str' ? expr.value : expr.kind === 'name' ? expr.name.text : undefined
