import type {Span} from '../diagnostics/index.js'
import type {Entry, Expr, ObjectExpr} from '../syntax/index.js'
import type {Checker} from './checker.js'
import {columnOf} from './column.js'
import type {Predicate} from './ir.js'
import {bool, type Column, float, isComparable, isNumber, isScalar, list, show, type Table, type Type} from './types.js'
import {reportRepeatedKeys, reportUnknownName} from './unknown-name.js'

/** Scripts written without spaces between words, which the search index does not separate. */
const unspaced = /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmr}\p{scx=Mymr}]/u

const operators = ['eq', 'neq', 'lt', 'lte', 'gt', 'gte', 'in', 'contains', 'is_null', 'matches', 'near'] as const
type Operator = (typeof operators)[number]

/** `filter({column: value, …})`: equality, joined by AND. */
export function checkFilter(c: Checker, table: Table, expr: Expr): Predicate | undefined {
  if (expr.kind !== 'object') return shape(c, expr, 'filter() needs an object of column: value pairs.')
  refuseBase(c, expr)
  warnEmpty(c, expr, 'filter')
  reportRepeatedKeys(c, expr)
  const args = present(expr.entries, ({key, value}): Predicate | undefined => {
    const column = columnOf(c, table, key, key.text)
    if (value.kind === 'object') {
      shape(c, value, 'filter({..}) takes column: value pairs; use where({..}) for operators.')
      return undefined
    }
    if (column === undefined) {
      c.value(value)
      return undefined
    }
    return equality(c, column, key, value)
  })
  return {kind: 'and', args}
}

/** `where({…})`: columns with values or operators, `and`, `or` and `not`. */
export function checkWhere(c: Checker, table: Table, expr: Expr): Predicate | undefined {
  if (expr.kind !== 'object') return shape(c, expr, 'where() needs an object of conditions.')
  warnEmpty(c, expr, 'where')
  return new WhereChecker(c, table).object(expr, true)
}

/** Conditions are known when the program is checked. */
function refuseBase(c: Checker, {base}: ObjectExpr): void {
  if (base !== undefined) shape(c, base, "'...' is not allowed in conditions.")
}

function warnEmpty(c: Checker, expr: ObjectExpr, called: string): void {
  if (expr.entries.length > 0 || expr.base !== undefined) return
  c.report('lint.empty_filter', expr, `${called}({}) has no predicate and reads every row; write all().`)
}

function shape(c: Checker, expr: Expr, message: string): undefined {
  c.report('typecheck.predicate_shape', expr, message)
  if (expr.kind !== 'object') c.value(expr)
}

function equality(c: Checker, column: Column, span: Span, value: Expr): Predicate | undefined {
  if (!isComparable(column.base) && column.base.kind !== 'unknown') {
    notFor(c, span, 'eq', column)
    c.value(value)
    return undefined
  }
  return {kind: 'eq', column, value: c.check(value, column.type, 'slot')}
}

const notFor = (c: Checker, span: Span, operator: string, column: Column) =>
  c.report(
    'typecheck.predicate_operator',
    span,
    `${operator} does not apply to column '${column.name}' of type ${show(column.type)}.`,
  )

const isOrdered = (type: Type) => isNumber(type) || type.kind === 'str' || type.kind === 'dec'
const isText = (type: Type) => type.kind === 'str'
const elementOf = (type: Type): Type | undefined =>
  (type.kind === 'list' || type.kind === 'set') && isScalar(type.of) ? type.of : undefined

/** The column types that each operator supports. */
const applies: Readonly<Record<Operator, (type: Type) => boolean>> = {
  eq: isComparable,
  neq: isComparable,
  lt: isOrdered,
  lte: isOrdered,
  gt: isOrdered,
  gte: isOrdered,
  in: isComparable,
  contains: (type) => isText(type) || elementOf(type) !== undefined,
  is_null: () => true,
  matches: isText,
  near: (type) => type.kind === 'bytes' || (type.kind === 'list' && type.of.kind === 'float'),
}

/** The conditions of the items that have one. */
function present<I>(items: readonly I[], read: (item: I) => Predicate | undefined): Predicate[] {
  const found: Predicate[] = []
  for (const item of items) {
    const predicate = read(item)
    if (predicate !== undefined) found.push(predicate)
  }
  return found
}

/** The conditions, joined by AND; a single one is not wrapped. */
const joined = (parts: readonly Predicate[]): Predicate =>
  parts.length === 1 ? (parts[0] as Predicate) : {kind: 'and', args: parts}

/** Keeps statements within SQLite's limits on expression depth and parameters. */
const maxConditions = 500

class WhereChecker {
  readonly #c: Checker
  readonly #table: Table
  #ranked = false
  #conditions = 0

  constructor(c: Checker, table: Table) {
    this.#c = c
    this.#table = table
  }

  /** The entries of an object, joined by AND. `top`: `near` is allowed here. */
  object(expr: ObjectExpr, top = false): Predicate {
    refuseBase(this.#c, expr)
    reportRepeatedKeys(this.#c, expr)
    return joined(present(expr.entries, (entry) => this.#entry(entry, top)))
  }

  #entry({key, value}: Entry, top: boolean): Predicate | undefined {
    const {text} = key
    if ((text === 'and' || text === 'or') && value.kind === 'list')
      return {kind: text, args: present(value.items, (item) => this.#part(item, top && text === 'and'))}
    if (text === 'not' && value.kind === 'object') return {kind: 'not', arg: this.object(value)}
    const isLogic = text === 'and' || text === 'or' || text === 'not'
    if (isLogic && !this.#table.columns.some(({name}) => name === text)) {
      const expected = text === 'not' ? 'an object literal' : 'a list literal of objects'
      shape(this.#c, value, `'${text}' requires ${expected}.`)
      return undefined
    }
    const column = columnOf(this.#c, this.#table, key, text)
    if (column === undefined) {
      if (value.kind !== 'object') this.#c.value(value)
      return undefined
    }
    if (value.kind !== 'object') {
      this.#count(key)
      return equality(this.#c, column, key, value)
    }
    return this.#operators(column, value, top)
  }

  #part(item: Expr, top: boolean): Predicate | undefined {
    if (item.kind === 'object') return this.object(item, top)
    shape(this.#c, item, 'Each item of and/or must be an object of conditions.')
    return undefined
  }

  /** `{gte: 1, lt: 9}`: operators on one column, joined by AND. */
  #operators(column: Column, expr: ObjectExpr, top: boolean): Predicate | undefined {
    if (expr.entries.length === 0) {
      shape(this.#c, expr, `Column '${column.name}' has no conditions.`)
      return undefined
    }
    reportRepeatedKeys(this.#c, expr)
    const parts = present(expr.entries, (entry) => this.#operator(column, entry, top))
    return parts.length === 0 ? undefined : joined(parts)
  }

  #operator(column: Column, {key, value}: Entry, top: boolean): Predicate | undefined {
    const c = this.#c
    this.#count(key)
    const operator = key.text as Operator
    if (!operators.includes(operator)) {
      const message = `Unknown predicate operator '${key.text}'.`
      const hints = [`Operators: ${operators.join(', ')}`]
      reportUnknownName(c, 'typecheck.predicate_operator_unknown', key, message, operators, {hints})
      return this.#skip(value)
    }
    if (!applies[operator](column.base) && column.base.kind !== 'unknown') {
      notFor(c, key, operator, column)
      return this.#skip(value)
    }
    switch (operator) {
      case 'eq':
      case 'neq':
        return {kind: operator, column, value: c.check(value, column.type, 'slot')}
      case 'in':
        return this.#in(column, value)
      case 'is_null':
        return this.#isNull(column, key, value)
      case 'contains':
        return {kind: 'contains', column, value: c.check(value, elementOf(column.base) ?? column.base)}
      case 'matches': {
        const index = this.#table.indexes.find(({style, columns}) => style === 'search' && columns.includes(column))
        if (index !== undefined && value.kind === 'str' && unspaced.test(value.value))
          c.report(
            'lint.search_words',
            value,
            'A search index takes text of this script without spaces as one word, so it does not find parts of it.',
          )
        return {kind: 'matches', column, value: c.check(value, column.base), index}
      }
      case 'near':
        return this.#near(column, key, value, top)
      default:
        return {kind: operator, column, value: c.check(value, column.base)}
    }
  }

  #count(span: Span): void {
    if (++this.#conditions === maxConditions + 1)
      this.#c.report('typecheck.predicate_shape', span, `The predicate has more than ${maxConditions} conditions.`)
  }

  #in(column: Column, value: Expr): Predicate | undefined {
    const c = this.#c
    if (value.kind !== 'list') return {kind: 'in', column, values: c.check(value, list(column.base))}
    if (value.items.length === 0) {
      c.report('typecheck.in_empty', value, `in for '${column.name}' has an empty list, so nothing can match.`)
      return undefined
    }
    if (value.items.length > maxConditions) {
      shape(c, value, `A literal list is limited to ${maxConditions} values; bind the list to a variable with let.`)
      return undefined
    }
    return {kind: 'in', column, values: value.items.map((item) => c.check(item, column.base))}
  }

  #isNull(column: Column, key: Span, value: Expr): Predicate | undefined {
    const c = this.#c
    if (!column.nullable)
      c.report('lint.is_null_never', key, `Column '${column.name}' is required, so it is never null.`)
    return {kind: 'is_null', column, value: value.kind === 'bool' ? value.value : c.check(value, bool)}
  }

  #near(column: Column, key: Span, value: Expr, top: boolean): Predicate | undefined {
    const c = this.#c
    const index = this.#table.indexes.find(({style, columns}) => style === 'vector' && columns.includes(column))
    if (index === undefined) {
      c.report('typecheck.predicate_operator', key, `near needs a vector index on '${column.name}'.`, {
        hints: [`Declare @vector_index ${this.#table.name}.by_${column.name} on (${column.name}) { dimensions: 384 }`],
      })
      return this.#skip(value)
    }
    if (!top || this.#ranked) {
      shape(c, value, "near ranks all rows of a query; use it at most once, and not inside 'or' or 'not'.")
      return undefined
    }
    this.#ranked = true
    return {kind: 'near', column, value: c.check(value, list(float)), index}
  }

  #skip(value: Expr): undefined {
    if (value.kind !== 'object') this.#c.value(value)
  }
}
