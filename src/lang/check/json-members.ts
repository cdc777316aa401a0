import type {Span} from '../diagnostics/index.js'
import type {Checker} from './checker.js'
import {type Column, isNumber, storageOf, type Type, unknown} from './types.js'

/** Whether conditions can name members of a column's values. */
export const hasMembers = ({base}: Column): boolean => base.kind === 'record' || base.kind === 'json' || isOpen(base)

/** A member of `Json` of which the type is not known until it is compared. */
const isOpen = ({kind}: Type): boolean => kind === 'unknown'

/** A member of the values of a column, as a column; reports an unknown one. */
export function memberOf(c: Checker, column: Column, span: Span, name: string): Column | undefined {
  const {base, within} = column
  const parent = within ?? {column: column.name, path: [], isUntyped: false}
  const path = [...parent.path, name]
  const member = {name: `${column.name}.${name}`, storage: 'json' as const, span: column.span}
  if (/["\\\p{Cc}]/u.test(name)) {
    c.report('typecheck.predicate_shape', span, 'The name of a member cannot contain quotation marks or backslashes.')
    return undefined
  }
  if (base.kind !== 'record')
    return {...member, type: unknown, base: unknown, nullable: true, within: {...parent, path, isUntyped: true}}
  const {record} = base
  const field = record.fields.find((each) => each.name === name)
  if (field === undefined) {
    const names = record.fields.map((each) => each.name)
    c.report('typecheck.unknown_field', span, `${record.name} has no field '${name}'.`, {
      hints: [`Fields of ${record.name}: ${names.join(', ')}`],
    })
    return undefined
  }
  c.symbols?.use(span, field.span, () => `${record.name}.${name}`)
  const inner = field.type.kind === 'option' ? field.type.of : field.type
  const nullable = column.nullable || field.type.kind === 'option'
  const type: Type = nullable ? {kind: 'option', of: inner} : inner
  return {...member, type, base: inner, nullable, storage: storedInJson(inner), within: {...parent, path}}
}

/** Durations are text in JSON. */
const storedInJson = (type: Type) => (type.kind === 'duration' ? 'text' : storageOf(type))

/** The types of `Json` members that can be compared. */
const scalars: ReadonlySet<Type['kind']> = new Set(['int', 'float', 'bool', 'str', 'id'])

/** A member of `Json` with the type of the value that it is compared with; reports values of other types. */
export function comparedWith(c: Checker, column: Column, span: Span, type: Type): Column {
  if (column.within?.isUntyped !== true || !isOpen(column.base)) return column
  const base = type.kind === 'option' ? type.of : type
  if (isOpen(base)) return column
  if (scalars.has(base.kind)) return {...column, base, storage: storageOf(isNumber(base) ? {kind: 'float'} : base)}
  c.report(
    'typecheck.predicate_operator',
    span,
    `'${column.name}' can be compared with a number, a str or a bool, because it is a member of a Json.`,
  )
  return column
}
