import {didYouMean, near, type Span} from '../diagnostics/index.js'
import type {Arg, CallExpr, Expr, MemberExpr, Name, ObjectExpr} from '../syntax/index.js'
import type {BodyChecker} from './body.js'
import {columnOf} from './column.js'
import {fixName} from './declare.js'
import type {Chain, ChainOp, Ir, RetrievalMode} from './ir.js'
import {checkFilter, checkWhere} from './predicate.js'
import {bool, type Column, fits, int, isUnknown, list, option, outcome, show, type Table, type Type} from './types.js'

/** A part of `db.Table.head(...).modifier(...)`: a name, with arguments where it is called. */
interface Link {
  name: Name
  args: readonly Arg[] | undefined
}

const heads = ['insert', 'get', 'find', 'delete', 'update', 'all', 'filter', 'where', 'count', 'query'] as const
type Head = (typeof heads)[number]
/** How many arguments each head takes, and what it is called in a plan. */
const counts: Readonly<Record<Head, number>> = {
  insert: 1,
  get: 1,
  find: 1,
  delete: 1,
  update: 2,
  all: 0,
  filter: 1,
  where: 1,
  count: 0,
  query: 1,
}
const ops: Readonly<Record<Head, ChainOp>> = {
  insert: 'insert',
  get: 'get',
  find: 'get',
  delete: 'delete',
  update: 'update',
  all: 'all',
  filter: 'filter_record',
  where: 'filter_record',
  count: 'count',
  query: 'unsafe_query_raw_clause',
}
const modifiers: ReadonlySet<string> = new Set([
  'order_by',
  'limit',
  'select',
  'count',
  'all',
  'sync',
  'using',
  'live',
  'scope',
])
const hints: ReadonlySet<string> = new Set(['sync', 'using', 'live', 'scope'])
const writes: ReadonlySet<ChainOp> = new Set(['insert', 'delete', 'update', 'unsafe_query_raw_clause'])

/**
 * dbexpr = "db" "." UPPER "." head { "." modifier } ;
 * Undefined where the expression is something else, or goes on behind the chain (then a part of it is one).
 */
export function checkChain(c: BodyChecker, expr: CallExpr | MemberExpr): Ir | undefined {
  const links = linksOf(c, expr)
  if (links === undefined) return undefined
  const [tableLink, headLink, ...rest] = links as [Link, Link | undefined, ...Link[]]
  if (rest.some(({name}) => !modifiers.has(name.text)) && headLink?.args !== undefined) return undefined
  const table = tableOf(c, tableLink)
  if (table === undefined) return failed(c, links)
  const head = headLink?.args === undefined ? undefined : headLink
  if (head === undefined) {
    const span = headLink?.name ?? tableLink.name
    c.report(
      'typecheck.table_handle',
      span,
      `db.${table.name} is a table, not a value; call an operation, as db.${table.name}.all().`,
    )
    return failed(c, links)
  }
  return new ChainChecker(c, table, head).run(rest)
}

/** The links behind `db`, where nothing but names and calls stands between. */
function linksOf(c: BodyChecker, expr: Expr): Link[] | undefined {
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

/** Looked at for every call of a program, so it makes nothing. */
function startsAtDatabase(c: BodyChecker, expr: Expr): boolean {
  let at = expr
  while (at.kind !== 'name') {
    if (at.kind === 'call') at = at.callee
    if (at.kind !== 'member') return false
    at = at.object
  }
  return at !== expr && at.name.text === 'db' && c.scope.find('db') === undefined
}

function tableOf(c: BodyChecker, {name, args}: Link): Table | undefined {
  if (args !== undefined) {
    if (name.text === 'query')
      c.report('lint.db_query_root', name, 'db.query(...) is not part of the language; use db.<Table> operations.')
    else
      c.report(
        'typecheck.unknown_method',
        name,
        `db has no operation '${name.text}'; name a table first, as db.Task.all().`,
      )
    return undefined
  }
  const table = c.declarations.tables.get(name.text)
  if (table === undefined) {
    const suggestion = near(name.text, c.declarations.tables.keys())
    c.report(
      'typecheck.unknown_table',
      name,
      `Unknown table '${name.text}'.${didYouMean(suggestion)}`,
      fixName(name, suggestion),
    )
  } else c.symbols?.use(name, table.span, () => `@table type ${table.name}`, table.doc)
  return table
}

/** What is left of a chain that is wrong: its arguments are looked at all the same. */
function failed(c: BodyChecker, links: readonly Link[]): Ir {
  const bare = (expr: Expr) => expr.kind === 'name' || expr.kind === 'object'
  for (const {args = []} of links) for (const {value} of args) if (!bare(value)) c.value(value)
  return c.unknown
}

class ChainChecker {
  readonly #c: BodyChecker
  readonly #table: Table
  readonly #head: Link & {name: Name}
  readonly #chain: Chain

  constructor(c: BodyChecker, table: Table, head: Link) {
    this.#c = c
    this.#table = table
    this.#head = head
    this.#chain = {
      start: head.name.start,
      end: head.name.end,
      fn: c.functionName,
      table,
      op: 'all',
      id: undefined,
      record: undefined,
      predicate: undefined,
      orderBy: [],
      limit: undefined,
      select: undefined,
      sync: false,
      using: undefined,
      live: undefined,
      scope: undefined,
      repeats: c.repeats,
    }
  }

  run(rest: readonly Link[]): Ir {
    const c = this.#c
    const {name, args = []} = this.#head
    if (!(heads as readonly string[]).includes(name.text)) {
      const suggestion = near(name.text, heads)
      c.report(
        'typecheck.unknown_method',
        name,
        `db.${this.#table.name} has no operation '${name.text}'.${didYouMean(suggestion)}`,
        fixName(name, suggestion),
      )
      return failed(c, [this.#head, ...rest])
    }
    c.symbols?.use(name, undefined, () => `db.${this.#table.name}.${name.text}`)
    this.#readHead(name.text as Head, args)
    const once = new Set<string>()
    for (const link of rest) this.#modifier(link, once)
    this.#effect(name.text)
    c.chains.push(this.#chain)
    return {kind: 'db', chain: this.#chain, type: outcome(this.#valueType())}
  }

  #report(...args: Parameters<BodyChecker['report']>): void {
    this.#c.report(...args)
  }

  #effect(called: string): void {
    const {op} = this.#chain
    this.#c.effects.push({
      kind: writes.has(op) ? 'write' : 'read',
      what: `db.${this.#table.name}.${called}()`,
      table: this.#table,
      span: this.#head.name,
    })
  }

  #valueType(): Type {
    const {op, select} = this.#chain
    const table = this.#table
    const selected = select === undefined ? undefined : new Set(['_id', ...select.map(({name}) => name)])
    const row: Type = {kind: 'row', table, selected}
    switch (op) {
      case 'insert':
        return table.id.type
      case 'get':
        return option(row)
      case 'delete':
      case 'update':
        return bool
      case 'count':
        return int
      default:
        return list(row)
    }
  }

  // Heads

  #readHead(head: Head, args: readonly Arg[]): void {
    const chain = this.#chain
    chain.op = ops[head]
    if (head === 'query') this.#rawClause()
    if (!this.#argCount(this.#head.name, args, counts[head])) return
    const [first, second] = args as readonly [Arg, Arg]
    switch (head) {
      case 'insert':
        chain.record = this.#insertRecord(first.value)
        break
      case 'get':
      case 'find':
      case 'delete':
        chain.id = this.#rowId(head, first.value)
        break
      case 'update':
        chain.id = this.#rowId(head, first.value)
        chain.record = this.#updateRecord(second.value)
        break
      case 'filter':
      case 'where': {
        const check = head === 'filter' ? checkFilter : checkWhere
        chain.predicate = check(this.#c, this.#table, first.value)
        // `filter({})` reads all rows, and says so.
        if (first.value.kind === 'object' && first.value.entries.length === 0) chain.op = 'all'
        break
      }
      case 'query':
        this.#c.value(first.value)
    }
  }

  #rawClause(): void {
    this.#c.report(
      'lint.unsafe_query_raw_clause',
      this.#head.name,
      `db.${this.#table.name}.query(clause) passes raw SQL; use filter, where, all or get/find.`,
    )
  }

  #argCount(name: Name, args: readonly Arg[], takes: number): boolean {
    const named = args.find((arg) => arg.name !== undefined)
    if (named?.name !== undefined)
      this.#report('typecheck.arg_name', named.name, `${name.text}() takes no named arguments.`)
    if (args.length === takes) return true
    this.#report('typecheck.arg_count', name, `${name.text}() takes ${takes} argument(s), found ${args.length}.`)
    for (const {value} of args) if (value.kind !== 'object') this.#c.value(value)
    return false
  }

  #rowId(head: string, expr: Expr): Ir | undefined {
    if (expr.kind === 'object') {
      this.#report(
        'typecheck.arg_mismatch',
        expr,
        `${head}() takes the row _id, not a predicate; use filter({..}) or where({..}).`,
        {
          hints: [`Write db.${this.#table.name}.filter({..}) for the rows whose columns have given values.`],
        },
      )
      return undefined
    }
    const ir = this.#c.value(expr)
    if (fits(ir.type, this.#table.id.type)) return ir
    const expected = show(this.#table.id.type)
    this.#report('typecheck.arg_mismatch', expr, `Expected ${expected}, found ${show(ir.type)}.`, {
      expectedType: expected,
      foundType: show(ir.type),
    })
    return undefined
  }

  #insertRecord(expr: Expr): Chain['record'] {
    if (expr.kind === 'object') return this.#insertLiteral(expr)
    const ir = this.#c.value(expr)
    const fields = fieldsOf(ir.type)
    if (fields === undefined) {
      if (!isUnknown(ir.type))
        this.#report(
          'typecheck.arg_mismatch',
          expr,
          `insert() needs a record of '${this.#table.name}', found ${show(ir.type)}.`,
        )
      return ir
    }
    const missing: string[] = []
    for (const column of this.#table.columns) {
      const type = fields.get(column.name)
      if (type === undefined && !column.nullable) missing.push(column.name)
      if (type !== undefined && !fits(type, column.type, 'slot'))
        this.#report(
          'typecheck.arg_mismatch',
          expr,
          `Column '${column.name}' of '${this.#table.name}' is ${show(column.type)}, found ${show(type)}.`,
          {expectedType: show(column.type), foundType: show(type)},
        )
    }
    const strange = [...fields.keys()].find(
      (name) => name !== '_id' && !this.#table.columns.some((column) => column.name === name),
    )
    if (strange !== undefined)
      this.#report('typecheck.unknown_column', expr, `Table '${this.#table.name}' has no column '${strange}'.`)
    this.#needs(expr, missing)
    return ir
  }

  #insertLiteral({entries, start, end}: ObjectExpr): Chain['record'] {
    const given = this.#literal(entries, 'inserted')
    this.#needs(
      {start, end: start + 1 > end ? end : start + 1},
      this.#table.columns
        .filter(({name, nullable}) => !nullable && !entries.some(({key}) => key.text === name))
        .map(({name}) => name),
    )
    return given
  }

  #needs(span: Span, missing: readonly string[]): void {
    if (missing.length > 0)
      this.#report('typecheck.missing_column', span, `Insert into '${this.#table.name}' needs ${missing.join(', ')}.`, {
        missing,
      })
  }

  #updateRecord(expr: Expr): Chain['record'] {
    if (expr.kind !== 'object') {
      this.#report('typecheck.arg_mismatch', expr, `update() takes an object of columns, as { done: true }.`)
      this.#c.value(expr)
      return undefined
    }
    if (expr.entries.length === 0) this.#report('typecheck.arg_mismatch', expr, 'update() needs a column to set.')
    return this.#literal(expr.entries, 'changed')
  }

  #literal(entries: ObjectExpr['entries'], done: string): (readonly [Column, Ir])[] {
    const seen = new Set<string>()
    return entries.flatMap(({key, value}): (readonly [Column, Ir])[] => {
      if (key.text === '_id') {
        this.#report('typecheck.insert_id', key, `'_id' is assigned by the store and cannot be ${done}.`)
        this.#c.value(value)
        return []
      }
      const column = this.#column(key, key.text)
      if (seen.has(key.text)) this.#report('typecheck.duplicate_field', key, `Column '${key.text}' is given twice.`)
      seen.add(key.text)
      const ir = column === undefined ? this.#c.value(value) : this.#c.check(value, column.type, 'slot')
      return column === undefined ? [] : [[column, ir]]
    })
  }

  #column(span: Span, name: string): Column | undefined {
    return columnOf(this.#c, this.#table, span, name)
  }

  // Modifiers

  #modifier({name, args}: Link, once: Set<string>) {
    const {op} = this.#chain
    const called = this.#head.name.text
    if (args === undefined)
      return this.#report('typecheck.modifier', name, `${name.text} needs parentheses: .${name.text}(...).`)
    const afterCount = op === 'count' && !hints.has(name.text) && name.text !== 'all'
    if (writes.has(op)) this.#report('typecheck.modifier', name, `.${name.text}() cannot follow ${called}().`)
    else if (op === 'get' && !hints.has(name.text))
      this.#report('typecheck.modifier', name, `.${name.text}() cannot follow ${called}().`)
    else if (afterCount || (name.text === 'count' && this.#isShaped()))
      this.#report('typecheck.count_modifier', name, 'count() cannot be combined with order_by, limit or select.')
    else if (once.has(name.text) && name.text !== 'order_by' && name.text !== 'all' && name.text !== 'sync')
      this.#report('typecheck.duplicate_modifier', name, `.${name.text}() is given twice.`)
    else this.#apply(name, args)
    once.add(name.text)
  }

  #isShaped(): boolean {
    const {orderBy, limit, select} = this.#chain
    return orderBy.length > 0 || limit !== undefined || select !== undefined
  }

  #apply(name: Name, args: readonly Arg[]) {
    const chain = this.#chain
    switch (name.text) {
      case 'order_by':
        return this.#orderBy(name, args)
      case 'limit':
        return this.#limit(name, args)
      case 'select':
        return this.#select(name, args)
      case 'count':
        if (this.#argCount(name, args, 0)) chain.op = 'count'
        return
      case 'all':
        this.#argCount(name, args, 0)
        return
      case 'sync':
        if (this.#argCount(name, args, 0)) chain.sync = true
        return
      default:
        return this.#hint(name, args)
    }
  }

  #orderBy(name: Name, args: readonly Arg[]) {
    if (args.length !== 2 && !this.#argCount(name, args, 1)) return
    const [first, second] = args as readonly [Arg, Arg | undefined]
    const column = this.#columnArg(first.value)
    const direction = second === undefined ? 'asc' : word(second.value)?.toLowerCase()
    if (direction !== 'asc' && direction !== 'desc')
      return this.#report('typecheck.order_direction', second?.value ?? name, 'order_by direction must be asc or desc.')
    if (column === undefined) return
    if (column.storage === 'json')
      return this.#report(
        'typecheck.predicate_operator',
        first.value,
        `Column '${column.name}' is stored as JSON and cannot be ordered by.`,
      )
    this.#chain.orderBy.push([column, direction])
  }

  #limit(name: Name, args: readonly Arg[]) {
    if (!this.#argCount(name, args, 1)) return
    const {value} = args[0] as Arg
    if (value.kind === 'unary' && value.operator === '-' && value.operand.kind === 'int')
      return this.#report('typecheck.limit_negative', value, 'limit must not be negative.')
    this.#chain.limit = this.#c.check(value, int)
  }

  #select(name: Name, args: readonly Arg[]) {
    const [only] = args
    const columns = args.length === 1 && only?.value.kind === 'list' ? only.value.items : args.map(({value}) => value)
    if (columns.length === 0) return this.#report('typecheck.select_empty', name, 'select() needs a column.')
    const chosen = new Set<Column>()
    for (const expr of columns) {
      const column = this.#columnArg(expr)
      if (column === undefined) continue
      if (chosen.has(column))
        this.#report('typecheck.duplicate_column', expr, `Column '${column.name}' is selected twice.`)
      chosen.add(column)
    }
    this.#chain.select = this.#table.columns.filter((column) => chosen.has(column))
  }

  #columnArg(expr: Expr): Column | undefined {
    const name = word(expr)
    if (name !== undefined) return this.#column(expr, name)
    this.#report('typecheck.column_constant', expr, 'A column is named by a word or a string, not computed.')
    this.#c.value(expr)
    return undefined
  }

  #hint(name: Name, args: readonly Arg[]) {
    if (!this.#argCount(name, args, 1)) return
    const {value} = args[0] as Arg
    const given = word(value)
    if (given === undefined || (value.kind === 'name' && this.#c.scope.find(given) !== undefined))
      return this.#report(
        'typecheck.hint_constant',
        value,
        `.${name.text}() takes a constant, since it is part of the plan.`,
      )
    const chain = this.#chain
    if (name.text === 'scope') chain.scope = given
    else if (name.text === 'using') this.#using(value, given)
    else if (/^[A-Za-z0-9._:-]{1,128}$/.test(given)) chain.live = given
    else this.#report('typecheck.hint_constant', value, 'A topic is 1 to 128 letters, digits or any of . _ : -')
  }

  #using(expr: Expr, given: string): void {
    const mode = given === 'search' ? 'fts' : given
    if (mode === 'fts' || mode === 'vector' || mode === 'hybrid') this.#chain.using = mode satisfies RetrievalMode
    else this.#report('typecheck.retrieval_mode', expr, `Unknown retrieval mode '${given}'; use fts, vector or hybrid.`)
  }
}

/** A string literal or a bare word. */
const word = (expr: Expr): string | undefined =>
  expr.kind === 'str' ? expr.value : expr.kind === 'name' ? expr.name.text : undefined

const fieldsOf = (type: Type): ReadonlyMap<string, Type> | undefined => {
  switch (type.kind) {
    case 'object':
      return type.fields
    case 'record':
      return new Map(type.record.fields.map(({name, type: field}) => [name, field]))
    case 'row':
      return new Map(
        type.table.columns
          .filter(({name}) => type.selected?.has(name) ?? true)
          .map(({name, type: column}) => [name, column]),
      )
    default:
      return undefined
  }
}
