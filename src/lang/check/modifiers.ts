import type {Arg, Expr, Name} from '../syntax/index.js'
import {type ChainContext, hasChainArgs, type Link, writes} from './chain-context.js'
import type {Checker} from './checker.js'
import {columnOf} from './column.js'
import type {Chain, ChainOp} from './ir.js'
import {abbreviatedObject} from './records.js'
import {readChanges} from './stored-record.js'
import {type Column, int} from './types.js'

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
  exists: (context, name, args) => {
    if (hasChainArgs(context, name, args, 0)) context.chain.op = 'exists'
  },
  update: (context, name, args) => {
    if (!hasChainArgs(context, name, args, 1)) return
    const {value} = args[0] as Arg
    context.chain.op = 'update_where'
    context.chain.changes = readChanges(context, abbreviatedObject(context.c, value) ?? value)
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
export const startsRows: ReadonlySet<string> = new Set(['order_by', 'limit', 'offset', 'select', 'exists'])

/** Modifiers that change the plan but not the result; valid on every read operation. */
const hints: ReadonlySet<string> = new Set(['sync', 'using', 'live', 'scope'])
const repeatable: ReadonlySet<string> = new Set(['order_by', 'all', 'sync'])

/** Whether a link belongs to the operation, and is not a method of its result. */
export const isModifier = (_: Checker, {name}: Link): boolean => Object.hasOwn(modifiers, name.text)

/** Operations on rows, which modifiers can shape. */
const ofRows: ReadonlySet<ChainOp> = new Set(['all', 'filter_record'])
/** Modifiers that replace the rows by a single result of all of them. */
const results: ReadonlySet<string> = new Set(['count', 'exists', 'update', 'delete'])

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
  else if (!ofRows.has(op) && !isHint && text !== 'all')
    c.report('typecheck.count_modifier', name, `${after}() cannot be combined with order_by, limit or select.`)
  else if (results.has(text) && isShaped(chain))
    c.report('typecheck.count_modifier', name, `${text}() cannot be combined with order_by, limit or select.`)
  else if (seen.has(text) && !repeatable.has(text))
    c.report('typecheck.duplicate_modifier', name, `Duplicate modifier .${text}().`)
  else modifiers[text]?.(context, name, args)
  seen.add(text)
}

const isShaped = ({orderBy: order, limit, offset, select: columns}: Chain) =>
  order.length > 0 || limit !== undefined || offset !== undefined || columns !== undefined

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

function columnArgument({c, table}: ChainContext, expr: Expr): Column | undefined {
  const name = constantOf(expr)
  if (name !== undefined) return columnOf(c, table, expr, name)
  c.report('typecheck.column_constant', expr, 'A column must be a bare word or a string literal.')
  c.value(expr)
  return undefined
}

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

/** A string literal or a bare word. */
const constantOf = (expr: Expr): string | undefined =>
  expr.kind === 'str' ? expr.value : expr.kind === 'name' ? expr.name.text : undefined
