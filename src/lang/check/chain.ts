import {near} from '../diagnostics/index.js'
import type {Arg, CallExpr, Expr, MemberExpr} from '../syntax/index.js'
import {type ChainContext, hasChainArgs, type Link, writes} from './chain-context.js'
import {type Checker, nothing} from './checker.js'
import {foreignMethod} from './foreign-methods.js'
import {groupType} from './grouping.js'
import type {Chain, ChainOp, Ir} from './ir.js'
import {applyModifier, isModifier, startsRows} from './modifiers.js'
import {checkFilter, checkWhere} from './predicate.js'
import {fieldsOf} from './records.js'
import {insertedRecord, readChanges} from './stored-record.js'
import {bool, fits, int, list, option, outcome, pageOf, show, type Table, type Type} from './types.js'
import {reportUnknown, reportUnknownName} from './unknown-name.js'
import {readUpsert, uniqueIndexes} from './upsert.js'

/** Operations that can start a chain, with their argument count and the name of the operation in the plan. */
const heads = {
  insert: {takes: 1, op: 'insert'},
  upsert: {min: 1, takes: 3, op: 'upsert'},
  get: {takes: 1, op: 'get'},
  find: {takes: 1, op: 'get'},
  delete: {takes: 1, op: 'delete'},
  update: {takes: 2, op: 'update'},
  all: {takes: 0, op: 'all'},
  filter: {takes: 1, op: 'filter_record'},
  where: {takes: 1, op: 'filter_record'},
  count: {takes: 0, op: 'count'},
  query: {takes: 1, op: 'unsafe_query_raw_clause'},
} as const satisfies Record<string, {takes: number; min?: number; op: ChainOp}>
type Head = keyof typeof heads

/**
 * dbexpr = "db" "." UPPER "." head { "." modifier } ;
 * Undefined if the expression is not a chain, or continues after it; then one of its sub-expressions is the chain.
 */
export function checkChain(c: Checker, expr: CallExpr | MemberExpr): Ir | undefined {
  const links = linksOf(c, expr)
  if (links === undefined) return undefined
  const tableLink = links[0] as Link
  const headLink = links[1]
  const rest = links.slice(2)
  if (rest.some((link) => !isModifier(c, link)) && headLink?.args !== undefined) return undefined
  const table = tableOf(c, tableLink)
  if (table === undefined) return failed(c, links)
  const head = headLink?.args === undefined ? undefined : headLink
  if (head === undefined) {
    const span = headLink?.name ?? tableLink.name
    c.report(
      'typecheck.table_handle',
      span,
      `db.${table.name} is a table, not a value; call an operation, such as db.${table.name}.all().`,
    )
    return failed(c, links)
  }
  return checkOperation(c, table, head, rest)
}

/** The links after `db`; undefined if the expression contains anything except names and calls. */
function linksOf(c: Checker, expr: Expr): Link[] | undefined {
  if (!startsAtDatabase(c, expr)) return undefined
  const links: Link[] = []
  for (let at = expr; at.kind !== 'name'; ) {
    const args = at.kind === 'call' ? at.args : undefined
    const member = (at.kind === 'call' ? at.callee : at) as MemberExpr
    links.push({name: member.member, args})
    at = member.object
  }
  return links.reverse()
}

/** Runs for every call in a program, so it allocates nothing. */
function startsAtDatabase(c: Checker, expr: Expr): boolean {
  let at = expr
  while (at.kind !== 'name') {
    if (at.kind === 'call') at = at.callee
    if (at.kind !== 'member') return false
    at = at.object
  }
  return at !== expr && at.name.text === 'db' && c.scope.find('db') === undefined
}

function tableOf(c: Checker, {name, args}: Link): Table | undefined {
  if (args !== undefined) {
    if (name.text === 'query')
      c.report('lint.db_query_root', name, 'db.query(...) is not part of the language; use db.<Table> operations.')
    else
      c.report(
        'typecheck.unknown_method',
        name,
        `db has no operation '${name.text}'; name a table first, such as db.Task.all().`,
        /^(transaction|begin|commit|rollback)$/.test(name.text)
          ? {hints: ['A mutation is one transaction; an Error that it returns undoes its changes.']}
          : {},
      )
    return undefined
  }
  const table = c.declarations.tables.get(name.text)
  if (table === undefined) {
    const known = c.declarations.tables.keys()
    reportUnknownName(c, 'typecheck.unknown_table', name, `Unknown table '${name.text}'.`, known)
  } else c.symbols?.use(name, table.span, () => `@table type ${table.name}`, table.doc)
  return table
}

/** The result of an invalid chain; its arguments are still checked. */
function failed(c: Checker, links: readonly Link[]): Ir {
  const bare = (expr: Expr) => expr.kind === 'name' || expr.kind === 'object'
  for (const {args = []} of links) for (const {value} of args) if (!bare(value)) c.value(value)
  return nothing
}

function checkOperation(c: Checker, table: Table, head: Link, rest: readonly Link[]): Ir {
  const {name, args = []} = head
  const called = name.text
  // All rows, unless a modifier says otherwise: db.Task.order_by(due).
  const isImplied = startsRows.has(called)
  if (!isImplied && !Object.hasOwn(heads, called)) {
    const message = `db.${table.name} has no operation '${called}'.`
    const known = [...Object.keys(heads), ...startsRows]
    reportUnknown(c, 'typecheck.unknown_method', name, message, foreignMethod(called, known) ?? near(called, known), {})
    return failed(c, [head, ...rest])
  }
  if (called === 'upsert' && uniqueIndexes(table).length === 0) {
    const message = `db.${table.name} has no operation 'upsert', which needs a unique index to find the row.`
    c.report('typecheck.unknown_method', name, message, {
      hints: [`Declare @index ${table.name}.by_key on (column) unique`],
    })
    return failed(c, [head, ...rest])
  }
  c.symbols?.use(name, undefined, () => `db.${table.name}.${called}`)
  const chain: Chain = {
    start: name.start,
    end: name.end,
    fn: c.function.name,
    table,
    op: isImplied ? 'all' : heads[called as Head].op,
    id: undefined,
    record: undefined,
    changes: [],
    key: undefined,
    predicate: undefined,
    orderBy: [],
    limit: undefined,
    offset: undefined,
    after: undefined,
    groupBy: undefined,
    grouping: undefined,
    included: [],
    select: undefined,
    sync: false,
    using: undefined,
    live: undefined,
    scope: undefined,
  }
  const context: ChainContext = {c, table, head: name, chain}
  if (!isImplied) readHead(context, args)
  const seen = new Set<string>()
  for (const link of isImplied ? [head, ...rest] : rest) applyModifier(context, link, seen)
  finish(context)
  const kind = writes.has(chain.op) ? 'write' : 'read'
  c.function.effects.push({kind, what: `db.${table.name}.${called}()`, table, span: name})
  c.function.chains.push(chain)
  return {kind: 'db', chain, type: outcome(valueType(chain))}
}

/** Checks what depends on all parts of an operation. */
function finish({c, table, head, chain}: ChainContext): void {
  if (chain.op === 'group' && chain.grouping === undefined)
    c.report(
      'typecheck.group_shape',
      head,
      `db.${table.name} is grouped; add .aggregate({..}) with the totals of each group.`,
      {
        hints: ['For example: .group_by(kind).aggregate({ count: count() })'],
      },
    )
  const bytes = chain.op === 'page' && chain.orderBy.find(([{storage}]) => storage === 'blob')
  if (bytes)
    c.report('typecheck.modifier', head, `page() cannot be ordered by '${bytes[0].name}', which contains bytes.`)
  const isRanked = chain.op === 'all' || chain.op === 'filter_record' || chain.op === 'count'
  if (!isRanked && ranks(chain.predicate))
    c.report('typecheck.modifier', head, 'near ranks the rows of a list; it cannot be combined with this operation.')
}

const ranks = (predicate: Chain['predicate']): boolean =>
  predicate?.kind === 'near' || (predicate?.kind === 'and' && predicate.args.some(ranks))

function valueType(chain: Chain): Type {
  const {op, table} = chain
  const row = rowType(chain)
  switch (op) {
    case 'insert':
    case 'upsert':
      return table.id.type
    case 'get':
      return option(row)
    case 'delete':
    case 'update':
    case 'exists':
      return bool
    case 'count':
    case 'delete_where':
    case 'update_where':
      return int
    case 'aggregate':
    case 'group': {
      const found = groupType(chain.grouping)
      return op === 'aggregate' ? found : list(found)
    }
    case 'page':
      return pageOf(row)
    default:
      return list(row)
  }
}

/** A row, or an object of its columns with the rows that are included. */
function rowType({select, table, included}: Chain): Type {
  const selected = select === undefined ? undefined : new Set(['_id', ...select.map(({name}) => name)])
  const row: Type = {kind: 'row', table, selected}
  if (included.length === 0) return row
  const fields = new Map(fieldsOf(row))
  for (const {name, how, table: other} of included) {
    const found: Type = {kind: 'row', table: other, selected: undefined}
    fields.set(name, how === 'many' ? list(found) : option(found))
  }
  return {kind: 'object', fields}
}

function readHead(context: ChainContext, args: readonly Arg[]): void {
  const {c, table, head, chain} = context
  const name = head.text as Head
  if (name === 'query')
    c.report(
      'lint.unsafe_query_raw_clause',
      head,
      `db.${table.name}.query(clause) passes raw SQL; use filter, where, all or get/find.`,
    )
  const taken: {takes: number; min?: number} = heads[name]
  if (!hasChainArgs(context, head, args, taken.takes, taken.min)) return
  const first = args[0] as Arg
  const second = args[1] as Arg
  switch (name) {
    case 'insert':
      chain.record = insertedRecord(context, first.value)
      break
    case 'get':
    case 'find':
    case 'delete':
      chain.id = rowId(context, first.value)
      break
    case 'update':
      chain.id = rowId(context, first.value)
      chain.changes = readChanges(context, second.value)
      break
    case 'upsert':
      readUpsert(
        context,
        args.map(({value}) => value),
      )
      break
    case 'filter':
    case 'where': {
      const check = name === 'filter' ? checkFilter : checkWhere
      chain.predicate = check(c, table, first.value)
      // `filter({})` reads all rows and is planned as `all()`.
      if (isEmptyObject(first.value)) chain.op = 'all'
      break
    }
    case 'query':
      c.value(first.value)
  }
}

const isEmptyObject = (expr: Expr) => expr.kind === 'object' && expr.entries.length === 0

function rowId({c, table, head}: ChainContext, expr: Expr): Ir | undefined {
  if (expr.kind === 'object') {
    const message = `${head.text}() takes the row _id, not a predicate; use filter({..}) or where({..}).`
    c.report('typecheck.arg_mismatch', expr, message, {
      hints: [`Use db.${table.name}.filter({..}) to find rows by column values.`],
    })
    return undefined
  }
  const ir = c.value(expr)
  if (fits(ir.type, table.id.type)) return ir
  const [expectedType, foundType] = [show(table.id.type), show(ir.type)]
  const message = `Expected ${expectedType}, found ${foundType}.`
  c.report('typecheck.arg_mismatch', expr, message, {expectedType, foundType})
  return undefined
}
