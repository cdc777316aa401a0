import type {Expr, ListExpr, Name, ObjectExpr} from '../syntax/index.js'
import {type Checker, nothing} from './checker.js'
import type {Ir} from './ir.js'
import {type FieldType, fits, isUnknown, join, list, show, type Table, type Type, unknown} from './types.js'
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
  if (expected?.kind === 'map') return checkMap(c, expr, expected, expected.of)
  const {known, wrap} = checkBase(c, expr)
  const entries = [...known, ...checkEntries(c, expr, () => undefined)]
  const fields = new Map(entries.map(([name, {type}]) => [name, type]))
  return wrap({kind: 'object', entries: [...new Map(entries)], type: {kind: 'object', fields}})
}

function checkMap(c: Checker, expr: ObjectExpr, type: Type, of: Type): Ir {
  const base = expr.base === undefined ? undefined : c.check(expr.base, type)
  const added: Ir = {kind: 'map', entries: checkEntries(c, expr, () => of), type}
  return base === undefined ? added : {kind: 'method', family: 'map', name: 'merge', object: base, args: [added], type}
}

/** The fields that an object takes from the value after `...`. */
interface Base {
  known: readonly (readonly [string, Ir])[]
  /** Evaluates the value once, around the object. */
  wrap(object: Ir): Ir
}

const noBase: Base = {known: [], wrap: (object) => object}

/** @param of the name of the type that has `fields`; all fields of the value must be among them. */
function checkBase(c: Checker, {base}: ObjectExpr, of?: string, fields?: readonly FieldType[]): Base {
  if (base === undefined) return noBase
  const value = c.value(base)
  const found = fieldsOf(value.type)
  if (found === undefined) {
    if (!isUnknown(value.type))
      c.report('typecheck.mismatch', base, `'...' needs a record, a row or an object, found ${show(value.type)}.`)
    return noBase
  }
  const strange = fields && [...found.keys()].find((name) => !fields.some((field) => field.name === name))
  if (strange !== undefined && of !== undefined)
    c.report('typecheck.unknown_field', base, `${of} has no field '${strange}', which '...' adds.`)
  const binding = value.kind === 'local' ? value.binding : c.scope.bind('', value.type, base)
  const object: Ir = value.kind === 'local' ? value : {kind: 'local', binding, type: value.type}
  const kind = value.type.kind === 'row' ? 'row' : 'record'
  const known = [...found]
    .filter(([name]) => name !== strange)
    .map(([name, type]) => [name, {kind: 'field', object, name, of: kind, type}] as const)
  if (value.kind === 'local') return {known, wrap: (made) => made}
  return {
    known,
    wrap: (made) => ({
      kind: 'block',
      statements: [
        {kind: 'let', pattern: {kind: 'bind', binding}, value},
        {kind: 'expr', value: made},
      ],
      type: made.type,
    }),
  }
}

/** The fields of a record, a row with the selected columns, or an object. */
export function fieldsOf(type: Type): ReadonlyMap<string, Type> | undefined {
  switch (type.kind) {
    case 'object':
      return type.fields
    case 'record':
      return new Map(type.record.fields.map(({name, type: field}) => [name, field]))
    case 'row': {
      const {table, selected} = type
      const columns = [table.id, ...table.columns].filter(({name}) => selected?.has(name) ?? true)
      return new Map(columns.map(({name, type: column}) => [name, column]))
    }
    default:
      return undefined
  }
}

/**
 * A block of one name as the object that it abbreviates, `{ name }`; undefined if the name has a value of the expected
 * kind itself, so that the block is meant.
 */
export function abbreviatedObject(c: Checker, expr: Expr): ObjectExpr | undefined {
  const only = expr.kind === 'block' && expr.statements.length === 1 ? expr.statements[0] : undefined
  if (only?.kind !== 'expr' || only.value.kind !== 'name') return undefined
  const {value, start, end} = only
  const type = c.scope.find(value.name.text)?.type
  if (type === undefined || isUnknown(type) || type.kind === 'map' || fieldsOf(type) !== undefined) return undefined
  const entries = [{key: value.name, value, start, end}]
  return {
    kind: 'object',
    type: undefined,
    base: undefined,
    entries,
    depth: expr.depth,
    start: expr.start,
    end: expr.end,
  }
}

/** The object that an expression is or abbreviates, otherwise undefined. */
export function objectOf(c: Checker, expr: Expr): ObjectExpr | undefined {
  return expr.kind === 'object' ? expr : abbreviatedObject(c, expr)
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
    const type: Type = {kind: 'sum', sum}
    return checkRecord(c, expr, variant.name, variant.fields, type, (args) => ({
      kind: 'variant',
      variant,
      sum,
      args,
      type,
    }))
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
  make = (entries: readonly (readonly [string, Ir])[]): Ir => ({kind: 'object', entries, type}),
): Ir {
  const {known, wrap} = checkBase(c, expr, name, fields)
  const entries = checkEntries(c, expr, (key) => {
    const field = fields.find((each) => each.name === key.text)
    if (field === undefined) reportUnknownField(c, key, name, fields)
    else c.symbols?.use(key, field.span, () => `${name}.${field.name}: ${show(field.type)}`)
    return field?.type ?? unknown
  })
  const written = new Set(expr.entries.map(({key}) => key.text))
  const kept = known.filter(([key]) => !written.has(key))
  for (const [key, value] of kept) {
    const expected = fields.find((field) => field.name === key)?.type ?? unknown
    if (!fits(value.type, expected, 'slot')) c.mismatch(expr.base ?? expr, value.type, expected)
    written.add(key)
  }
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
  return wrap(make([...kept, ...entries, ...none]))
}

export function reportUnknownField(c: Checker, name: Name, of: string, fields: readonly FieldType[]): void {
  const names = fields.map((field) => field.name)
  const details = names.length === 0 ? {} : {hints: [`Fields of ${of}: ${names.join(', ')}`]}
  reportUnknownName(c, 'typecheck.unknown_field', name, `${of} has no field '${name.text}'.`, names, details)
}

/** How the fields of an object differ from those of a record, also within lists, options and objects. */
export function differingFields(found: Type, expected: Type): string | undefined {
  if (isHolder(found)) return differingFields(found.of, isHolder(expected) ? expected.of : expected)
  if (isHolder(expected)) return differingFields(found, expected.of)
  if (found.kind !== 'object') return undefined
  if (expected.kind === 'object')
    return firstOf(expected.fields, ([name, type]) => differingFields(found.fields.get(name) ?? unknown, type))
  if (expected.kind !== 'record' && expected.kind !== 'row') return undefined
  const {name, fields} = expected.kind === 'record' ? expected.record : rowFields(expected.table)
  const names = new Set(fields.map((field) => field.name))
  const added = [...found.fields.keys()].filter((field) => !names.has(field))
  if (added.length > 0)
    return `${name} lacks ${added.join(', ')}: declare these fields, or choose others with select(...).`
  const absent = fields.filter((field) => field.type.kind !== 'option' && !found.fields.has(field.name))
  if (absent.length > 0) return `The value lacks ${absent.map((field) => field.name).join(', ')}.`
  return firstOf(fields, (field) => {
    const own = found.fields.get(field.name)
    if (own === undefined || fits(own, field.type, 'slot')) return undefined
    return `${name}.${field.name} is ${show(field.type)}, not ${show(own)}.`
  })
}

const rowFields = ({name, id, columns}: Table): {name: string; fields: readonly FieldType[]} => ({
  name,
  fields: [id, ...columns],
})

const isHolder = (type: Type): type is Type & {kind: 'list' | 'set' | 'option' | 'map'} =>
  type.kind === 'list' || type.kind === 'set' || type.kind === 'option' || type.kind === 'map'

function firstOf<I, R>(items: Iterable<I>, read: (item: I) => R | undefined): R | undefined {
  for (const item of items) {
    const result = read(item)
    if (result !== undefined) return result
  }
  return undefined
}
