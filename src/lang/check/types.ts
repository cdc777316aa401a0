import type {Span} from '../diagnostics/index.js'
import {type Visitor, visitSome} from './visitor.js'

export type Type =
  /** Compatible with every type, so that one error does not cause others. */
  | {kind: 'unknown'}
  /** The type of expressions that do not return, such as `return` and `break`. */
  | {kind: 'never'}
  /** The expected type if the value is unused. */
  | {kind: 'ignored'}
  | {kind: 'int' | 'float' | 'bool' | 'str' | 'dec' | 'bytes' | 'unit' | 'json' | 'request'}
  | {kind: TimeKind}
  | {kind: 'id'; table: Table}
  | {kind: 'list' | 'set' | 'map' | 'option'; of: Type}
  | {kind: 'tuple'; items: readonly Type[]}
  | {kind: 'result'; ok: Type; error: Type}
  | {kind: 'record'; record: RecordType}
  | {kind: 'sum'; sum: SumType}
  /** `selected` lists the columns of a projection. */
  | {kind: 'row'; table: Table; selected: ReadonlySet<string> | undefined}
  /** An object literal without a declared type. */
  | {kind: 'object'; fields: ReadonlyMap<string, Type>}
  | {kind: 'function'; params: readonly Type[]; result: Type}
  /** The type of a database operation until its use determines whether a failure is handled. */
  | {kind: 'outcome'; of: Type}

/** Dates and times are their ISO 8601 text; durations, too. */
export type TimeKind = 'date' | 'datetime' | 'duration'

/** `millis`: a duration as an integer. */
export type Storage = 'integer' | 'real' | 'text' | 'blob' | 'json' | 'millis'

/** The expression of a default: an `Ir`, whose file imports this one. */
export interface ColumnDefault {
  readonly kind: string
}

/** A condition on one row, and its source text. */
export interface Condition {
  readonly ir: ColumnDefault
  readonly text: string
}

/** What happens to a row if the one that it refers to is deleted. */
export const deleteActions = {restrict: 'RESTRICT', cascade: 'CASCADE', set_null: 'SET NULL'} as const
export type DeleteAction = keyof typeof deleteActions

export interface Column {
  readonly name: string
  /** `Option[T]` if nullable. */
  readonly type: Type
  /** The type without `Option`. */
  readonly base: Type
  readonly nullable: boolean
  readonly storage: Storage
  /** Set if this is a member of a value in a JSON column. `isUntyped`: of a `Json`, whose members can have any type. */
  readonly within?: {readonly column: string; readonly path: readonly string[]; readonly isUntyped: boolean}
  /** Whether an inserted record can omit the column although it is required. */
  readonly hasDefault?: boolean
  /** The default: a constant, or the current time; see `defaultOf`. */
  fallback?: ColumnDefault
  /** A condition that each row meets. */
  check?: Condition
  /** Of an id: what the database does if the row is deleted; without it, references are not enforced. */
  readonly onDelete?: DeleteAction
  /** The store sets it to the time at which the row was inserted or last changed. */
  readonly stamp?: 'created_at' | 'updated_at'
  /** Its earlier name, which a migration replaces. */
  readonly was?: string
  readonly span: Span
}

export interface Index {
  readonly name: string
  readonly sqlName: string
  readonly table: Table
  readonly style: 'btree' | 'search' | 'vector'
  readonly columns: readonly Column[]
  readonly unique: boolean
  /** Only rows that meet it are in the index. */
  where?: Condition
  readonly dimensions: number
}

export interface Table {
  readonly name: string
  readonly sqlName: string
  /** Its earlier name in SQL, which a migration replaces. */
  readonly was?: string
  /** Without `_id`, in declaration order. */
  readonly columns: Column[]
  readonly indexes: Index[]
  /** The columns with `on delete` that refer to this table. */
  readonly referrers?: {table: Table; column: Column}[]
  /** The column `_id`. */
  readonly id: Column
  readonly doc: string | undefined
  readonly span: Span
}

export interface FieldType {
  readonly name: string
  readonly type: Type
  readonly span: Span
}

export interface RecordType {
  readonly name: string
  readonly fields: FieldType[]
  readonly doc: string | undefined
  readonly span: Span
}

export interface VariantType {
  readonly name: string
  /** Its earlier name, which a migration replaces. */
  readonly was?: string
  readonly fields: FieldType[]
  readonly span: Span
}

export interface SumType {
  readonly name: string
  readonly variants: VariantType[]
  readonly doc: string | undefined
  readonly span: Span
}

export const unknown: Type = {kind: 'unknown'}
export const never: Type = {kind: 'never'}
export const ignored: Type = {kind: 'ignored'}
export const int: Type = {kind: 'int'}
export const float: Type = {kind: 'float'}
export const bool: Type = {kind: 'bool'}
export const str: Type = {kind: 'str'}
export const dec: Type = {kind: 'dec'}
export const bytes: Type = {kind: 'bytes'}
export const date: Type = {kind: 'date'}
export const dateTime: Type = {kind: 'datetime'}
export const duration: Type = {kind: 'duration'}
export const unit: Type = {kind: 'unit'}
export const json: Type = {kind: 'json'}
export const request: Type = {kind: 'request'}
export const list = (of: Type): Type => ({kind: 'list', of})
export const map = (of: Type): Type => ({kind: 'map', of})
/** `Option` does not nest. */
export const option = (of: Type): Type => (of.kind === 'option' ? of : {kind: 'option', of})
export const result = (ok: Type, error: Type = str): Type => ({kind: 'result', ok, error})
export const outcome = (of: Type): Type => ({kind: 'outcome', of})
export const fn = (params: readonly Type[], result: Type): Type => ({kind: 'function', params, result})

/** Some of many items, and the cursor of those that follow. */
export const pageOf = (item: Type): Type => ({
  kind: 'object',
  fields: new Map([
    ['items', list(item)],
    ['next', option(str)],
  ]),
})

/** The maximum nesting of types shown. */
const maxShown = 6

/** The name of a type, as a program writes it. */
export const show = (type: Type, depth = 0): string =>
  depth > maxShown
    ? '_'
    : visitSome(
        type,
        names,
        (of) => show(of, depth + 1),
        ({kind}) => kind,
      )

const names: Partial<Visitor<Type, string, (of: Type) => string>> = {
  unknown: () => '_',
  never: () => '_',
  ignored: () => '_',
  unit: () => 'Unit',
  json: () => 'Json',
  request: () => 'Request',
  date: () => 'Date',
  datetime: () => 'DateTime',
  duration: () => 'Duration',
  id: ({table}) => `Id[${table.name}]`,
  list: ({of}, inner) => `List[${inner(of)}]`,
  set: ({of}, inner) => `Set[${inner(of)}]`,
  map: ({of}, inner) => `Map[str, ${inner(of)}]`,
  option: ({of}, inner) => `Option[${inner(of)}]`,
  tuple: ({items}, inner) => `(${items.map(inner).join(', ')})`,
  result: ({ok, error}, inner) => `Result[${inner(ok)}${error.kind === 'str' ? '' : `, ${inner(error)}`}]`,
  record: ({record}) => record.name,
  sum: ({sum}) => sum.name,
  row: ({table}) => table.name,
  object: ({fields}, inner) => `{ ${[...fields].map(([name, field]) => `${name}: ${inner(field)}`).join(', ')} }`,
  function: ({params, result: returned}, inner) => `fn(${params.map(inner).join(', ')}) to ${inner(returned)}`,
  outcome: ({of}, inner) => inner(of),
}

export const isUnknown = (type: Type): boolean => type.kind === 'unknown' || type.kind === 'never'

/** A value slot (a field, column or predicate value) also accepts `T` for `Option[T]`, and any type for `Json`. */
export type Slot = 'exact' | 'slot'

/** Whether a value of type `from` can be used where `to` is expected. */
export function fits(from: Type, to: Type, slot: Slot = 'exact'): boolean {
  if (from === to || isUnknown(from) || isUnknown(to) || to.kind === 'ignored') return true
  return visitSome(to, fitting, {from, slot}, isSameKind)
}

const isSameKind = ({kind}: Type, {from}: {from: Type}) => from.kind === kind

const fitting: Partial<Visitor<Type, boolean, {from: Type; slot: Slot}>> = {
  float: (_, {from}) => from.kind === 'float' || from.kind === 'int',
  int: (_, {from}) => from.kind === 'int' || from.kind === 'id',
  id: ({table}, {from}) => from.kind === 'int' || (from.kind === 'id' && from.table === table),
  option: ({of}, {from, slot}) =>
    from.kind === 'option' ? fits(from.of, of, slot) : slot === 'slot' && fits(from, of, slot),
  list: fitsItems,
  set: fitsItems,
  map: ({of}, {from, slot}) =>
    from.kind === 'map'
      ? fits(from.of, of, slot)
      : from.kind === 'object' && [...from.fields.values()].every((field) => fits(field, of, 'slot')),
  tuple: ({items}, {from, slot}) =>
    from.kind === 'tuple' &&
    from.items.length === items.length &&
    items.every((item, i) => fits(from.items[i] ?? unknown, item, slot)),
  result: ({ok, error}, {from, slot}) =>
    from.kind === 'result' && fits(from.ok, ok, slot) && fits(from.error, error, slot),
  record: ({record}, {from}) =>
    from.kind === 'record' ? from.record === record : from.kind === 'object' && fitsFields(from.fields, record.fields),
  sum: ({sum}, {from}) => from.kind === 'sum' && from.sum === sum,
  row: ({table}, {from}) =>
    from.kind === 'row' ? from.table === table : from.kind === 'object' && isWholeRow(from.fields, table),
  object: ({fields}, {from}) =>
    from.kind === 'object' &&
    from.fields.size === fields.size &&
    [...fields].every(([name, type]) => fits(from.fields.get(name) ?? unit, type)),
  function: ({params, result: returned}, {from}) =>
    from.kind === 'function' &&
    from.params.length <= params.length &&
    fits(from.result, returned) &&
    from.params.every((param, i) => fits(params[i] ?? unknown, param)),
  json: (_, {from, slot}) => from.kind === 'json' || (slot === 'slot' && from.kind !== 'function'),
}

function fitsItems({of}: Type & {kind: 'list' | 'set'}, {from, slot}: {from: Type; slot: Slot}): boolean {
  return (from.kind === 'list' || from.kind === 'set') && fits(from.of, of, slot)
}

/** Whether an object has the columns of a table and no other fields. Those of type `Option` are present, too. */
function isWholeRow(entries: ReadonlyMap<string, Type>, {id, columns}: Table): boolean {
  const fields = [id, ...columns]
  return fields.length === entries.size && fields.every(({name}) => entries.has(name)) && fitsFields(entries, fields)
}

function fitsFields(entries: ReadonlyMap<string, Type>, fields: readonly FieldType[]): boolean {
  const known = new Set(fields.map(({name}) => name))
  if ([...entries.keys()].some((name) => !known.has(name))) return false
  return fields.every(({name, type}) => {
    const field = entries.get(name)
    return field === undefined ? type.kind === 'option' : fits(field, type, 'slot')
  })
}

/** The common type of two types, if there is one. */
export function join(a: Type, b: Type): Type | undefined {
  if (isUnknown(a)) return b
  if (isUnknown(b)) return a
  if (fits(b, a)) return (a.kind === 'list' || a.kind === 'map') && isUnknown(a.of) ? b : a
  return fits(a, b) ? b : undefined
}

export const isNumber = ({kind}: Type): boolean => kind === 'int' || kind === 'float' || kind === 'id'
export const isScalar = ({kind}: Type): boolean =>
  isNumber({kind} as Type) || kind === 'bool' || kind === 'str' || kind === 'dec' || kind === 'bytes' || isTime({kind})
export const isTime = ({kind}: {kind: string}): boolean => kind === 'date' || kind === 'datetime' || kind === 'duration'

/** A sum type whose variants have no fields. */
export const isEnum = (type: Type): boolean =>
  type.kind === 'sum' && type.sum.variants.length > 0 && type.sum.variants.every(({fields}) => fields.length === 0)

/** Whether a column of the type can be compared for equality and indexed. */
export const isComparable = (type: Type): boolean => isScalar(type) || isEnum(type)

/** Whether the values of a type have an order: scalars except bytes, and tuples and options of them. */
export function isOrdered(type: Type): boolean {
  if (type.kind === 'tuple') return type.items.every(isOrdered)
  if (type.kind === 'option') return isOrdered(type.of)
  return isUnknown(type) || (isScalar(type) && type.kind !== 'bytes')
}

/** Whether a value of the type can be stored in a column or sent. `seen` stops at recursive types. */
export const isStorable = (type: Type, seen?: Set<object>): boolean => visitSome(type, storable, seen, yes)

const yes = () => true
const no = () => false
const isStorableContent = ({of}: {of: Type}, seen?: Set<object>) => isStorable(of, seen)

const storable: Partial<Visitor<Type, boolean, Set<object> | undefined>> = {
  function: no,
  result: no,
  unit: no,
  row: no,
  request: no,
  outcome: no,
  never: no,
  ignored: no,
  list: isStorableContent,
  set: isStorableContent,
  map: isStorableContent,
  option: isStorableContent,
  tuple: ({items}, seen) => items.every((item) => isStorable(item, seen)),
  record: ({record}, seen = new Set()) => seen.has(record) || areStorable(record.fields, seen.add(record)),
  sum: ({sum}, seen = new Set()) =>
    seen.has(sum) || sum.variants.every(({fields}) => areStorable(fields, seen.add(sum))),
}

const areStorable = (fields: readonly FieldType[], seen: Set<object>) =>
  fields.every((field) => isStorable(field.type, seen))

/** Whether values of the type are compared in another way than their JSON texts: decimals, durations and sets. */
export const isEqualByValue = (type: Type, seen: Set<object> = new Set()): boolean =>
  visitSome(type, equalByValue, seen, () => false)

const isEqualContent = ({of}: {of: Type}, seen: Set<object>) => isEqualByValue(of, seen)
const areEqualByValue = (fields: readonly FieldType[], seen: Set<object>) =>
  fields.some((field) => isEqualByValue(field.type, seen))

const equalByValue: Partial<Visitor<Type, boolean, Set<object>>> = {
  dec: () => true,
  duration: () => true,
  set: () => true,
  list: isEqualContent,
  map: isEqualContent,
  option: isEqualContent,
  tuple: (type, seen) => !seen.has(type) && type.items.some((item) => isEqualByValue(item, seen.add(type))),
  result: ({ok, error}, seen) => isEqualByValue(ok, seen) || isEqualByValue(error, seen),
  record: ({record}, seen) => !seen.has(record) && areEqualByValue(record.fields, seen.add(record)),
  row: ({table}, seen) => table.columns.some((column) => isEqualByValue(column.type, seen)),
  object: ({fields}, seen) => [...fields.values()].some((field) => isEqualByValue(field, seen)),
  sum: ({sum}, seen) => !seen.has(sum) && sum.variants.some(({fields}) => areEqualByValue(fields, seen.add(sum))),
}

const storages: Partial<Record<Type['kind'], Storage>> = {
  int: 'integer',
  id: 'integer',
  bool: 'integer',
  float: 'real',
  str: 'text',
  dec: 'text',
  bytes: 'blob',
  date: 'text',
  datetime: 'text',
  duration: 'millis',
}

/** A variant without fields is stored as its name. */
export const storageOf = (type: Type): Storage => storages[type.kind] ?? (isEnum(type) ? 'text' : 'json')
