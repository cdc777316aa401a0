import type {Expr, ListExpr, Name, ObjectExpr} from '../syntax/index.js'
import {type Checker, nothing} from './checker.js'
import type {Ir} from './ir.js'
import {type FieldType, isUnknown, join, list, show, type Type, unknown} from './types.js'
import {reportRepeatedKeys, reportUnknownName} from './unknown-name.js'
import {variantOf} from './variants.js'

export function checkTuple(c: Checker, exprs: readonly Expr[], expected: Type | undefined): Ir {
  const types = expected?.kind === 'tuple' ? expected.items : []
  const items = exprs.map((item, i) => {
    const type = types[i]
    return type === undefined ? c.value(item) : c.check(item, type, 'slot')
  })
  return {kind: 'tuple', items, type: {kind: 'tuple', items: items.map(({type}, i) => types[i] ?? type)}}
}

export function checkList(c: Checker, expr: ListExpr, expected: Type | undefined): Ir {
  const typed = expected?.kind === 'list' || expected?.kind === 'set' ? expected : undefined
  const items = expr.items.map((item) => (typed === undefined ? c.value(item) : c.check(item, typed.of, 'slot')))
  if (typed === undefined || isUnknown(typed.of))
    return {kind: 'list', items, type: list(joinedType(c, expr.items, items))}
  const checked: Ir = {kind: 'list', items, type: typed}
  return typed.kind === 'set' ? {kind: 'builtin', name: 'as_set', args: [checked], type: typed} : checked
}

/** The common type of several values. */
export function joinedType(c: Checker, exprs: readonly Expr[], irs: readonly Ir[]): Type {
  let type: Type = unknown
  for (const [i, ir] of irs.entries()) {
    const both = join(type, ir.type)
    if (both === undefined) c.mismatch(exprs[i] as Expr, ir.type, type)
    else type = both
  }
  return type
}

export function checkObject(c: Checker, expr: ObjectExpr, expected: Type | undefined): Ir {
  if (expr.type !== undefined) return checkTypedObject(c, expr, expr.type, expected)
  if (expected?.kind === 'record') return checkRecord(c, expr, expected.record.name, expected.record.fields, expected)
  if (expected?.kind === 'row') return checkRow(c, expr, expected)
  if (expected?.kind === 'map') return {kind: 'map', entries: checkEntries(c, expr, () => expected.of), type: expected}
  const entries = checkEntries(c, expr, () => undefined)
  const fields = new Map(entries.map(([name, {type}]) => [name, type]))
  return {kind: 'object', entries, type: {kind: 'object', fields}}
}

function checkTypedObject(c: Checker, expr: ObjectExpr, name: Name, expected: Type | undefined): Ir {
  const {records, variants, tables} = c.declarations
  const record = records.get(name.text)
  if (record !== undefined) {
    c.symbols?.use(name, record.span, () => `type ${record.name}`, record.doc)
    return checkRecord(c, expr, record.name, record.fields, {kind: 'record', record})
  }
  const found = variantOf(c, name, expected)
  if (found !== undefined) {
    const {sum, variant} = found
    const {entries} = checkRecord(c, expr, variant.name, variant.fields, {kind: 'sum', sum})
    return {kind: 'variant', variant, sum, args: entries, type: {kind: 'sum', sum}}
  }
  const table = tables.get(name.text)
  if (table !== undefined) return checkRow(c, expr, {kind: 'row', table, selected: undefined})
  const known = [...records.keys(), ...variants.keys()]
  reportUnknownName(c, 'typecheck.unknown_type', name, `Unknown type '${name.text}'.`, known)
  checkEntries(c, expr, () => undefined)
  return nothing
}

const checkRow = (c: Checker, expr: ObjectExpr, type: Type & {kind: 'row'}): Ir =>
  checkRecord(c, expr, type.table.name, [type.table.id, ...type.table.columns], type)

function checkEntries(
  c: Checker,
  expr: ObjectExpr,
  typeOf: (key: Name) => Type | undefined,
): (readonly [string, Ir])[] {
  reportRepeatedKeys(c, expr)
  return expr.entries.map(({key, value}) => {
    if (key.text === '__proto__')
      c.report(
        'typecheck.reserved_column',
        key,
        "Key '__proto__' is reserved: names that start with _ belong to the store.",
      )
    const type = typeOf(key)
    return [key.text, type === undefined ? c.value(value) : c.check(value, type, 'slot')]
  })
}

function checkRecord(
  c: Checker,
  expr: ObjectExpr,
  name: string,
  fields: readonly FieldType[],
  type: Type,
): Ir & {kind: 'object'} {
  const entries = checkEntries(c, expr, (key) => {
    const field = fields.find((each) => each.name === key.text)
    if (field === undefined) reportUnknownField(c, key, name, fields)
    else c.symbols?.use(key, field.span, () => `${name}.${field.name}: ${show(field.type)}`)
    return field?.type ?? unknown
  })
  const written = new Set(expr.entries.map(({key}) => key.text))
  const absent = fields.filter((field) => !written.has(field.name))
  const missing = absent.flatMap((field) => (field.type.kind === 'option' ? [] : field.name))
  if (missing.length > 0)
    c.report(
      'typecheck.missing_field',
      {start: expr.start, end: Math.min(expr.end, expr.start + 1)},
      `${name} needs ${missing.join(', ')}.`,
      {missing},
    )
  // Absent optional fields become None, so that a row or a record has all its fields.
  const none = absent.flatMap((field): (readonly [string, Ir])[] =>
    field.type.kind === 'option' ? [[field.name, {kind: 'const', value: null, type: field.type}]] : [],
  )
  return {kind: 'object', entries: [...entries, ...none], type}
}

export function reportUnknownField(c: Checker, name: Name, of: string, fields: readonly FieldType[]): void {
  const names = fields.map((field) => field.name)
  const details = names.length === 0 ? {} : {hints: [`Fields of ${of}: ${names.join(', ')}`]}
  reportUnknownName(c, 'typecheck.unknown_field', name, `${of} has no field '${name.text}'.`, names, details)
}
