import type {Database} from 'better-sqlite3'
import {excerpt} from '../../errors/index.js'
import {type Column, checkProgram, type FieldType, show, type Type, type Visitor, visitSome} from '../check/index.js'

/**
 * The declared type of each column, in the language. SQLite stores a string, a decimal number and a record all as
 * text, so its schema does not show every change of a type.
 */
export const declaredTable = `CREATE TABLE IF NOT EXISTS svc_data_columns (
  table_name TEXT NOT NULL COLLATE NOCASE,
  column_name TEXT NOT NULL COLLATE NOCASE,
  declared TEXT NOT NULL,
  PRIMARY KEY (table_name, column_name)
) WITHOUT ROWID;`

/** SQLite ignores the case of names. */
export const declaredKey = (table: string, column: string): string => `${table}.${column}`.toLowerCase()

/** The recorded types by `declaredKey`. */
export function readDeclared(database: Database): ReadonlyMap<string, string> {
  const exists = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'svc_data_columns'").get() !== undefined
  if (!exists) return new Map()
  const rows = database.prepare('SELECT table_name, column_name, declared FROM svc_data_columns').raw().all()
  return new Map(
    (rows as [string, string, string][]).map(([table, column, declared]) => [declaredKey(table, column), declared]),
  )
}

/** A type in source form, with the declarations of its records and sum types. */
export interface Written {
  type: string
  declarations: string[]
}

/**
 * Writes a type so that it can be read back without its program; a reference becomes an int.
 * @param rename renames records and sum types
 */
export function writeType(type: Type, rename = (name: string) => name): Written {
  const declarations = new Map<object, string>()
  const fields = (types: readonly FieldType[]) => types.map(({name, type: of}) => `${name}: ${write(of)}`).join(', ')
  const named = (declared: {name: string}, body: () => string) => {
    if (!declarations.has(declared)) {
      // The type may be recursive.
      declarations.set(declared, '')
      declarations.set(declared, `type ${rename(declared.name)} ${body()}`)
    }
    return rename(declared.name)
  }
  const writers: Partial<Visitor<Type, string, undefined>> = {
    id: () => 'int',
    json: () => 'Json',
    date: (of) => show(of),
    datetime: (of) => show(of),
    duration: (of) => show(of),
    list: ({of}) => `List[${write(of)}]`,
    set: ({of}) => `Set[${write(of)}]`,
    map: ({of}) => `Map[str, ${write(of)}]`,
    option: ({of}) => `Option[${write(of)}]`,
    tuple: ({items}) => `(${items.map(write).join(', ')})`,
    record: ({record}) => named(record, () => `{ ${fields(record.fields)} }`),
    sum: ({sum}) =>
      named(sum, () => `= ${sum.variants.map((each) => variant(each.name, fields(each.fields))).join(' ')}`),
  }
  const write = (of: Type): string => visitSome(of, writers, undefined, ({kind}) => kind)
  const written = write(type)
  return {type: written, declarations: [...declarations.values()]}
}

const variant = (name: string, fields: string) => `| ${name}${fields === '' ? '' : `(${fields})`}`

/** The recorded form of a column's type: declarations, and the type on the last line. */
export function declaredOf({base}: Column): string {
  const {type, declarations} = writeType(base)
  return [...declarations, type].join('\n')
}

/** Parses a recorded type; undefined if this version cannot read it. */
export function readType(declared: string): Type | undefined {
  const end = declared.lastIndexOf('\n') + 1
  let holder = 'Kept'
  while (declared.includes(holder)) holder += '_'
  const source = `${declared.slice(0, end)}\ntype ${holder} { value: ${declared.slice(end)} }\n`
  const program = checkProgram(source)
  return program.hasErrors ? undefined : program.records.at(-1)?.fields[0]?.type
}

/** The declared type of a live column, if it was recorded. */
export const declaredType = ({declared}: {readonly declared: string | undefined}): Type | undefined =>
  declared === undefined ? undefined : readType(declared)

/** Maximum length of a type in the table of steps. */
const maxShown = 160

/** A type on one line, with the contents of records and sum types, because their names may be unchanged. */
export function showContents(type: Type): string {
  const {type: written, declarations} = writeType(type)
  const own = declarations.find((text) => text.startsWith(`type ${written} `))
  const text = own === undefined ? written : own.slice('type '.length)
  return excerpt(text, maxShown)
}

/** Whether every stored value of `from` is also a value of `to` with the same meaning. */
export function holdsAll(from: Type, to: Type, {renames = false} = {}): boolean {
  // A bool column stores 1 for true, but nested in JSON, true is not a number.
  if (from.kind === 'bool' && (to.kind === 'int' || to.kind === 'id')) return true
  return holds(from, to, {renames, assumed: new Map()})
}

interface Comparing {
  /** Whether a variant may have an earlier name. */
  renames: boolean
  assumed: Map<object, Set<object>>
}

function holds(from: Type, to: Type, comparing: Comparing): boolean {
  const {renames, assumed} = comparing
  const inner = (a: Type, b: Type) => holds(a, b, comparing)
  if (to.kind === 'option') return inner(from.kind === 'option' ? from.of : from, to.of)
  switch (from.kind) {
    case 'int':
    case 'id':
      return to.kind === 'int' || to.kind === 'id' || to.kind === 'float'
    case 'dec':
      return to.kind === 'dec' || to.kind === 'str'
    case 'date':
    case 'datetime':
      return to.kind === from.kind || to.kind === 'str'
    case 'list':
      return to.kind === 'json' || (to.kind === 'list' && inner(from.of, to.of))
    case 'set':
      return to.kind === 'json' || ((to.kind === 'set' || to.kind === 'list') && inner(from.of, to.of))
    case 'map':
      return to.kind === 'json' || (to.kind === 'map' && inner(from.of, to.of))
    case 'tuple':
      if (to.kind === 'json') return true
      return (
        to.kind === 'tuple' &&
        from.items.length === to.items.length &&
        from.items.every((item, i) => inner(item, to.items[i] as Type))
      )
    case 'record':
      if (to.kind === 'json') return true
      return (
        to.kind === 'record' &&
        once(from.record, to.record, assumed, () => holdFields(from.record.fields, to.record.fields, inner))
      )
    case 'sum':
      if (to.kind === 'json') return true
      return (
        to.kind === 'sum' &&
        once(from.sum, to.sum, assumed, () =>
          from.sum.variants.every((old) => {
            const {variants} = to.sum
            const same =
              variants.find(({name}) => name === old.name) ??
              (renames ? variants.find(({was}) => was === old.name) : undefined)
            return same !== undefined && holdFields(old.fields, same.fields, inner)
          }),
        )
      )
    default:
      return from.kind === to.kind
  }
}

/** Old fields must still exist, and new fields must be optional. */
const holdFields = (from: readonly FieldType[], to: readonly FieldType[], inner: (a: Type, b: Type) => boolean) =>
  from.every((old) => {
    const same = to.find(({name}) => name === old.name)
    return same !== undefined && inner(old.type, same.type)
  }) && to.every(({name, type}) => type.kind === 'option' || from.some((old) => old.name === name))

/** Handles recursive types: a pair already being compared is assumed to match. */
function once(from: object, to: object, assumed: Map<object, Set<object>>, compare: () => boolean): boolean {
  const known = assumed.get(from) ?? new Set()
  assumed.set(from, known)
  if (known.has(to)) return true
  known.add(to)
  return compare()
}
