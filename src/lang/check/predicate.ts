import {near, type Span} from '../diagnostics/index.js'
import type {Entry, Expr, ObjectExpr} from '../syntax/index.js'
import type {Checker} from './checker.js'
import {columnOf} from './column.js'
import type {Ir, Predicate} from './ir.js'
import {comparedWith, memberOf} from './json-members.js'
import {
  applies,
  elementOf,
  foreignOperator,
  isMember,
  isUnusable,
  type Operator,
  operators,
  refersTo,
} from './predicate-operators.js'
import {abbreviatedObject, objectOf} from './records.js'
import {bool, type Column, fits, float, isComparable, list, option, show, str, type Table, type Type} from './types.js'
import {reportRepeatedKeys, reportUnknown} from './unknown-name.js'

/** Scripts written without spaces between words, which the search index does not separate. */
const unspaced = /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmr}\p{scx=Mymr}]/u

/** `filter({column: value, …})`: equality, joined by AND. */
export function checkFilter(c: Checker, table: Table, expr: Expr): Predicate | undefined {
  const object = objectOf(c, expr)
  if (object === undefined) return shape(c, expr, 'filter() needs an object of column: value pairs.')
  refuseBase(c, object)
  warnEmpty(c, object, 'filter')
  reportRepeatedKeys(c, object)
  const args = present(object.entries, ({key, value}): Predicate | undefined => {
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
export const checkWhere = (c: Checker, table: Table, expr: Expr): Predicate | undefined =>
  checkConditions(c, table, expr, 'where')

/** The conditions of `where` and `having`. */
export function checkConditions(c: Checker, table: Table, expr: Expr, called: string): Predicate | undefined {
  const checker = new WhereChecker(c, table)
  const optional = optionalConditions(c, expr)
  if (optional !== undefined) return checker.optional(optional)
  const object = objectOf(c, expr)
  if (object === undefined) return shape(c, expr, `${called}() needs an object of conditions.`)
  warnEmpty(c, object, called)
  return checker.object(object, true)
}

/** The object of `maybe({…})`, in which conditions whose value is None do not count. */
function optionalConditions(c: Checker, expr: Expr): ObjectExpr | undefined {
  if (expr.kind !== 'call' || expr.callee.kind !== 'name' || expr.callee.name.text !== 'maybe') return undefined
  if (c.scope.find('maybe') !== undefined || c.declarations.functions.has('maybe')) return undefined
  const [only] = expr.args
  return only !== undefined && expr.args.length === 1 ? objectOf(c, only.value) : undefined
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
  const hints = expr.kind === 'block' ? {hints: ['Write { column: value } or { column: { gt: 1 } }.']} : {}
  c.report('typecheck.predicate_shape', expr, message, hints)
  if (expr.kind !== 'object' && expr.kind !== 'block') c.value(expr)
}

function equality(
  c: Checker,
  column: Column,
  span: Span,
  value: Expr,
  type: Type = column.type,
): (Predicate & {kind: 'eq'}) | undefined {
  const isBytes = column.within !== undefined && column.base.kind === 'bytes'
  if (isBytes || (!isComparable(column.base) && column.base.kind !== 'unknown')) {
    notFor(c, span, 'eq', column)
    c.value(value)
    return undefined
  }
  const compared = c.check(value, type, 'slot')
  return {kind: 'eq', column: comparedWith(c, column, span, compared.type), value: compared}
}

const notFor = (c: Checker, span: Span, operator: string, column: Column) =>
  c.report(
    'typecheck.predicate_operator',
    span,
    `${operator} does not apply to column '${column.name}' of type ${show(column.type)}.`,
  )

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

/** The type of the items of a list, which may be absent. */
function itemOf(type: Type): Type {
  const items = type.kind === 'option' ? type.of : type
  return items.kind === 'list' || items.kind === 'set' ? items.of : items
}

class WhereChecker {
  readonly #c: Checker
  #table: Table
  #ranked = false
  #conditions = 0
  /** Whether the values are options, and conditions without a value do not count. */
  #isOptional = false

  constructor(c: Checker, table: Table) {
    this.#c = c
    this.#table = table
  }

  /** The conditions of `maybe({…})`. */
  optional(expr: ObjectExpr): Predicate {
    this.#isOptional = true
    const predicate = this.object(expr)
    this.#isOptional = false
    return predicate
  }

  /** A condition that uses a value; without it, if it may be absent, every row matches. */
  #using(value: Ir, arg: Predicate): Predicate {
    return this.#isOptional ? {kind: 'maybe', value, arg} : arg
  }

  /** Checks a value that a column is compared with. */
  #value(expr: Expr, type: Type): Ir {
    return this.#isOptional ? this.#c.check(expr, option(type), 'slot') : this.#c.check(expr, type)
  }

  /** The entries of an object, joined by AND. `top`: `near` is allowed here. */
  object(expr: ObjectExpr, top = false): Predicate {
    refuseBase(this.#c, expr)
    reportRepeatedKeys(this.#c, expr)
    return joined(present(expr.entries, (entry) => this.#entry(entry, top)))
  }

  #entry({key, value}: Entry, top: boolean): Predicate | undefined {
    const {text} = key
    if (this.#isOptional && (text === 'and' || text === 'or' || text === 'not')) {
      shape(this.#c, value, `maybe({..}) takes conditions on columns; put it into '${text}' instead.`)
      return undefined
    }
    if ((text === 'and' || text === 'or') && value.kind === 'list')
      return {kind: text, args: present(value.items, (item) => this.#part(item, top && text === 'and'))}
    const excluded = text === 'not' ? objectOf(this.#c, value) : undefined
    if (excluded !== undefined) return {kind: 'not', arg: this.object(excluded)}
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
    return this.#condition(column, key, value, top)
  }

  /** What follows a column or member: a value that it equals, or operators. */
  #condition(column: Column, key: Span, value: Expr, top: boolean): Predicate | undefined {
    const abbreviated = this.#referredName(column, value)
    if (abbreviated !== undefined) return this.#operators(column, abbreviated, top)
    if (value.kind !== 'object') {
      this.#count(key)
      const equal = equality(this.#c, column, key, value, this.#isOptional ? option(column.type) : column.type)
      return equal && this.#using(equal.value, equal)
    }
    return this.#operators(column, value, top)
  }

  #part(item: Expr, top: boolean): Predicate | undefined {
    const optional = optionalConditions(this.#c, item)
    if (optional !== undefined) return this.optional(optional)
    const object = objectOf(this.#c, item)
    if (object !== undefined) return this.object(object, top)
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
    const ofRow = expr.entries.filter(({key}) => refersTo(column, key.text) !== undefined)
    const own = expr.entries.filter((entry) => !ofRow.includes(entry))
    const parts = present(own, (entry) =>
      isMember(column, entry.key.text) ? this.#member(column, entry, top) : this.#operator(column, entry, top),
    )
    if (ofRow.length > 0) parts.push(this.#referred(column, {...expr, entries: ofRow}))
    return parts.length === 0 ? undefined : joined(parts)
  }

  /** `{ maker: { country } }`, unless the name has an id as its value. */
  #referredName(column: Column, value: Expr): ObjectExpr | undefined {
    const object = abbreviatedObject(this.#c, value)
    const name = object?.entries[0]?.key.text ?? ''
    if (column.base.kind === 'record' && column.base.record.fields.some((field) => field.name === name)) return object
    const type = this.#c.scope.find(name)?.type
    return refersTo(column, name) === undefined || (type !== undefined && fits(type, column.base)) ? undefined : object
  }

  /** A condition on a member of a record or `Json`: `{ address: { city: "Rome" } }`. */
  #member(column: Column, {key, value}: Entry, top: boolean): Predicate | undefined {
    const member = memberOf(this.#c, column, key, key.text)
    if (member === undefined) return this.#skip(value)
    return this.#condition(member, key, value, top)
  }

  /** Conditions on the row that an id refers to: `{ item: { price: 2 } }`. */
  #referred(column: Column, expr: ObjectExpr): Predicate {
    const own = this.#table
    const {table} = column.base as Type & {kind: 'id'}
    this.#table = table
    const arg = this.object(expr)
    this.#table = own
    return {kind: 'refers', column, table, arg}
  }

  #operator(column: Column, {key, value}: Entry, top: boolean): Predicate | undefined {
    const c = this.#c
    const operator = key.text as Operator
    if (!operators.includes(operator)) {
      const message = `Unknown predicate operator '${key.text}'.`
      const meant = foreignOperator(key.text)
      const hints = [meant?.includes(' ') ? `Write ${meant}.` : `Operators: ${operators.join(', ')}`]
      if (column.base.kind === 'id')
        hints.push(
          `Columns of ${column.base.table.name}: ${column.base.table.columns.map(({name}) => name).join(', ')}`,
        )
      const suggestion = meant === undefined ? near(key.text, operators) : meant.includes(' ') ? undefined : meant
      reportUnknown(c, 'typecheck.predicate_operator_unknown', key, message, suggestion, {hints})
      return this.#skip(value)
    }
    const isUsable = column.within === undefined || !isUnusable(operator, column)
    if (!isUsable || (!applies[operator](column.base) && column.base.kind !== 'unknown')) {
      notFor(c, key, operator, column)
      return this.#skip(value)
    }
    this.#count(key)
    switch (operator) {
      case 'eq':
      case 'neq': {
        const compared = c.check(value, this.#isOptional ? option(column.type) : column.type, 'slot')
        return this.#using(compared, {
          kind: operator,
          column: comparedWith(c, column, key, compared.type),
          value: compared,
        })
      }
      case 'between':
        return this.#between(column, value)
      case 'in':
        return this.#in(column, value)
      case 'is_null':
        return this.#isNull(column, key, value)
      case 'contains': {
        const part = this.#value(value, elementOf(column.base) ?? column.base)
        return this.#using(part, {kind: 'contains', column, value: part})
      }
      case 'matches': {
        const index = this.#table.indexes.find(({style, columns}) => style === 'search' && columns.includes(column))
        if (index !== undefined && value.kind === 'str' && unspaced.test(value.value))
          c.report(
            'lint.search_words',
            value,
            'A search index takes text of this script without spaces as one word, so it does not find parts of it.',
          )
        const terms = this.#value(value, column.base)
        return this.#using(terms, {kind: 'matches', column, value: terms, index})
      }
      case 'near':
        return this.#near(column, key, value, top)
      default: {
        const limit = this.#value(value, operator === 'starts_with' ? str : column.base)
        const compared = comparedWith(c, column, key, limit.type)
        if (compared !== column && !applies[operator](compared.base)) notFor(c, key, operator, compared)
        return this.#using(limit, {kind: operator, column: compared, value: limit})
      }
    }
  }

  #count(span: Span): void {
    if (++this.#conditions === maxConditions + 1)
      this.#c.report('typecheck.predicate_shape', span, `The predicate has more than ${maxConditions} conditions.`)
  }

  /** `between: [first, last]` includes both. */
  #between(column: Column, value: Expr): Predicate | undefined {
    const items = value.kind === 'list' || value.kind === 'tuple' ? value.items : []
    const [min, max] = items
    if (this.#isOptional || items.length !== 2 || min === undefined || max === undefined) {
      const hint = this.#isOptional ? ' In maybe({..}), use gte and lte.' : ''
      shape(this.#c, value, `between for '${column.name}' needs the least and the greatest value: [1, 9].${hint}`)
      return undefined
    }
    const [first, last] = [this.#c.check(min, column.base), this.#c.check(max, column.base)]
    const args = [
      {kind: 'gte', column: comparedWith(this.#c, column, min, first.type), value: first},
      {kind: 'lte', column: comparedWith(this.#c, column, max, last.type), value: last},
    ] as const
    return {kind: 'and', args}
  }

  #in(column: Column, value: Expr): Predicate | undefined {
    const c = this.#c
    if (value.kind !== 'list') {
      const values = this.#value(value, list(column.base))
      return this.#using(values, {kind: 'in', column: comparedWith(c, column, value, itemOf(values.type)), values})
    }
    if (value.items.length === 0) {
      c.report('typecheck.in_empty', value, `in for '${column.name}' has an empty list, so nothing can match.`)
      return undefined
    }
    if (value.items.length > maxConditions) {
      shape(c, value, `A literal list is limited to ${maxConditions} values; bind the list to a variable with let.`)
      return undefined
    }
    const values = value.items.map((item) => c.check(item, column.base))
    return {kind: 'in', column: comparedWith(c, column, value, values[0]?.type ?? column.base), values}
  }

  #isNull(column: Column, key: Span, value: Expr): Predicate | undefined {
    const c = this.#c
    if (!column.nullable)
      c.report('lint.is_null_never', key, `Column '${column.name}' is required, so it is never null.`)
    if (value.kind === 'bool') return {kind: 'is_null', column, value: value.value}
    const isNull = this.#value(value, bool)
    return this.#using(isNull, {kind: 'is_null', column, value: isNull})
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
