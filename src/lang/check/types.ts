import type {Span} from '../diagnostics/index.js'

export type Type =
  /** Agrees with everything, so that one error does not cause others. */
  | {kind: 'unknown'}
  /** Of what does not come back: `return`, `break`. */
  | {kind: 'never'}
  /** Expected where nobody looks at the value. */
  | {kind: 'ignored'}
  | {kind: 'int' | 'float' | 'bool' | 'str' | 'dec' | 'bytes' | 'unit' | 'json' | 'request'}
  | {kind: 'id'; table: Table}
  | {kind: 'list' | 'set' | 'map' | 'option'; of: Type}
  | {kind: 'tuple'; items: readonly Type[]}
  | {kind: 'result'; ok: Type; error: Type}
  | {kind: 'record'; record: RecordType}
  | {kind: 'sum'; sum: SumType}
  /** `selected` lists the columns of a projection. */
  | {kind: 'row'; table: Table; selected: ReadonlySet<string> | undefined}
  /** An object literal of which nobody said what it is. */
  | {kind: 'object'; fields: ReadonlyMap<string, Type>}
  | {kind: 'function'; params: readonly Type[]; result: Type}
  /** Of an operation on the database, until its use says whether a failure is handled. */
  | {kind: 'outcome'; of: Type}

export type Storage = 'integer' | 'real' | 'text' | 'blob' | 'json'

export interface Column {
  readonly name: string
  /** `Option[T]` where nullable. */
  readonly type: Type
  /** The type of a value that is there. */
  readonly base: Type
  readonly nullable: boolean
  readonly storage: Storage
  readonly span: Span
}

export interface Index {
  readonly name: string
  readonly sqlName: string
  readonly table: Table
  readonly style: 'btree' | 'search' | 'vector'
  readonly columns: readonly Column[]
  readonly unique: boolean
  readonly dimensions: number
}

export interface Table {
  readonly name: string
  readonly sqlName: string
  /** Without `_id`, in the order of their declaration. */
  readonly columns: Column[]
  readonly indexes: Index[]
  /** `_id` as a column. */
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
export const unit: Type = {kind: 'unit'}
export const json: Type = {kind: 'json'}
export const request: Type = {kind: 'request'}
export const list = (of: Type): Type => ({kind: 'list', of})
export const map = (of: Type): Type => ({kind: 'map', of})
/** There is no option of an option. */
export const option = (of: Type): Type => (of.kind === 'option' ? of : {kind: 'option', of})
export const result = (ok: Type, error: Type = str): Type => ({kind: 'result', ok, error})
export const outcome = (of: Type): Type => ({kind: 'outcome', of})
export const fn = (params: readonly Type[], result: Type): Type => ({kind: 'function', params, result})

/** Types within types, as far as anyone reads them. */
const maxShown = 6

/** The name of a type, as a program writes it. */
export function show(type: Type, depth = 0): string {
  if (depth > maxShown) return '_'
  const inner = (of: Type) => show(of, depth + 1)
  switch (type.kind) {
    case 'unknown':
    case 'never':
    case 'ignored':
      return '_'
    case 'unit':
      return 'Unit'
    case 'json':
      return 'Json'
    case 'request':
      return 'Request'
    case 'id':
      return `Id[${type.table.name}]`
    case 'list':
      return `List[${inner(type.of)}]`
    case 'set':
      return `Set[${inner(type.of)}]`
    case 'map':
      return `Map[str, ${inner(type.of)}]`
    case 'option':
      return `Option[${inner(type.of)}]`
    case 'tuple':
      return `(${type.items.map(inner).join(', ')})`
    case 'result':
      return type.error.kind === 'str' ? `Result[${inner(type.ok)}]` : `Result[${inner(type.ok)}, ${inner(type.error)}]`
    case 'record':
      return type.record.name
    case 'sum':
      return type.sum.name
    case 'row':
      return type.table.name
    case 'object':
      return `{ ${[...type.fields].map(([name, field]) => `${name}: ${inner(field)}`).join(', ')} }`
    case 'function':
      return `fn(${type.params.map(inner).join(', ')}) to ${inner(type.result)}`
    case 'outcome':
      return inner(type.of)
    default:
      return type.kind
  }
}

export const isUnknown = (type: Type): boolean => type.kind === 'unknown' || type.kind === 'never'

/** What a value slot (a field, a column, a predicate's value) takes besides: `T` as `Option[T]`, anything as `Json`. */
export type Slot = 'exact' | 'slot'

/** Whether a value of one type may stand where another is expected. */
export function fits(from: Type, to: Type, slot: Slot = 'exact'): boolean {
  if (from === to || isUnknown(from) || isUnknown(to) || to.kind === 'ignored') return true
  switch (to.kind) {
    case 'float':
      return from.kind === 'float' || from.kind === 'int'
    case 'int':
      return from.kind === 'int' || from.kind === 'id'
    case 'id':
      return from.kind === 'int' || (from.kind === 'id' && from.table === to.table)
    case 'option':
      if (from.kind === 'option') return fits(from.of, to.of, slot)
      return slot === 'slot' && fits(from, to.of, slot)
    case 'list':
    case 'set':
      return (from.kind === 'list' || from.kind === 'set') && fits(from.of, to.of, slot)
    case 'map':
      if (from.kind === 'map') return fits(from.of, to.of, slot)
      return from.kind === 'object' && [...from.fields.values()].every((field) => fits(field, to.of, 'slot'))
    case 'tuple':
      return (
        from.kind === 'tuple' &&
        from.items.length === to.items.length &&
        to.items.every((item, i) => fits(from.items[i] ?? unknown, item, slot))
      )
    case 'result':
      return from.kind === 'result' && fits(from.ok, to.ok, slot) && fits(from.error, to.error, slot)
    case 'record':
      if (from.kind === 'record') return from.record === to.record
      return from.kind === 'object' && fitsFields(from.fields, to.record.fields)
    case 'sum':
      return from.kind === 'sum' && from.sum === to.sum
    case 'row':
      return from.kind === 'row' && from.table === to.table
    case 'object':
      return (
        from.kind === 'object' &&
        from.fields.size === to.fields.size &&
        [...to.fields].every(([name, type]) => fits(from.fields.get(name) ?? unit, type))
      )
    case 'function':
      return (
        from.kind === 'function' &&
        from.params.length <= to.params.length &&
        fits(from.result, to.result) &&
        from.params.every((param, i) => fits(to.params[i] ?? unknown, param))
      )
    case 'json':
      return from.kind === 'json' || (slot === 'slot' && from.kind !== 'function')
    default:
      return from.kind === to.kind
  }
}

function fitsFields(given: ReadonlyMap<string, Type>, fields: readonly FieldType[]): boolean {
  const known = new Set(fields.map(({name}) => name))
  if ([...given.keys()].some((name) => !known.has(name))) return false
  return fields.every(({name, type}) => {
    const field = given.get(name)
    return field === undefined ? type.kind === 'option' : fits(field, type, 'slot')
  })
}

/** The type that both of two agree with, where there is one. */
export function join(a: Type, b: Type): Type | undefined {
  if (isUnknown(a)) return b
  if (isUnknown(b)) return a
  if (fits(b, a)) return a.kind === 'list' && isUnknown(a.of) ? b : a
  return fits(a, b) ? b : undefined
}

export const isNumber = ({kind}: Type): boolean => kind === 'int' || kind === 'float' || kind === 'id'
export const isScalar = ({kind}: Type): boolean =>
  isNumber({kind} as Type) || kind === 'bool' || kind === 'str' || kind === 'dec' || kind === 'bytes'

/** Whether a value of the type can be kept in a column, or sent. A type that was looked at already says nothing new. */
export function isStorable(type: Type, seen: Set<object> = new Set()): boolean {
  switch (type.kind) {
    case 'function':
    case 'result':
    case 'unit':
    case 'row':
    case 'request':
    case 'outcome':
    case 'never':
    case 'ignored':
      return false
    case 'list':
    case 'set':
    case 'map':
    case 'option':
      return isStorable(type.of, seen)
    case 'tuple':
      return type.items.every((item) => isStorable(item, seen))
    case 'record':
      return seen.has(type.record) || areStorable(type.record.fields, seen.add(type.record))
    case 'sum':
      return seen.has(type.sum) || type.sum.variants.every(({fields}) => areStorable(fields, seen.add(type.sum)))
    default:
      return true
  }
}

const areStorable = (fields: readonly FieldType[], seen: Set<object>) =>
  fields.every((field) => isStorable(field.type, seen))

export function storageOf(type: Type): Storage {
  switch (type.kind) {
    case 'int':
    case 'id':
    case 'bool':
      return 'integer'
    case 'float':
      return 'real'
    case 'str':
    case 'dec':
      return 'text'
    case 'bytes':
      return 'blob'
    default:
      return 'json'
  }
}
