import type {Database} from 'better-sqlite3'
import {type Column, checkProgram, type FieldType, type Type, type Visitor, visitSome} from '../check/index.js'

/**
 * The declared type of each column, in the language: SQLite keeps text for a string, a decimal number and a record
 * alike, so that its own schema does not show when the type has changed.
 */
export const declaredTable = `CREATE TABLE IF NOT EXISTS svc_data_columns (
  table_name TEXT NOT NULL COLLATE NOCASE,
  column_name TEXT NOT NULL COLLATE NOCASE,
  declared TEXT NOT NULL,
  PRIMARY KEY (table_name, column_name)
) WITHOUT ROWID;`

/** SQLite ignores the case of names. */
export const declaredKey = (table: string, column: string): string => `${table}.${column}`.toLowerCase()

/** Declared types by `declaredKey`, as far as they were kept. */
export function readDeclared(database: Database): ReadonlyMap<string, string> {
  const exists = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'svc_data_columns'").get() !== undefined
  if (!exists) return new Map()
  const rows = database.prepare('SELECT table_name, column_name, declared FROM svc_data_columns').raw().all()
  return new Map(
    (rows as [string, string, string][]).map(([table, column, declared]) => [declaredKey(table, column), declared]),
  )
}

/** A type as a program writes it, with the declarations of the records and sums in it. */
export interface Written {
  type: string
  declarations: string[]
}

/**
 * Writes a type so that it can be read again without its program: of a reference stays the number.
 * @param rename gives records and sums other names
 */
export function writeType(type: Type, rename = (name: string) => name): Written {
  const declarations = new Map<object, string>()
  const fields = (types: readonly FieldType[]) => types.map(({name, type: of}) => `${name}: ${write(of)}`).join(', ')
  const named = (declared: {name: string}, body: () => string) => {
    if (!declarations.has(declared)) {
      // It may contain itself.
      declarations.set(declared, '')
      declarations.set(declared, `type ${rename(declared.name)} ${body()}`)
    }
    return rename(declared.name)
  }
  const writers: Partial<Visitor<Type, string, undefined>> = {
    id: () => 'int',
    json: () => 'Json',
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

/** What is kept of a column's type: declarations, and the type in the last line. */
export function declaredOf({base}: Column): string {
  const {type, declarations} = writeType(base)
  return [...declarations, type].join('\n')
}

/** The type that was kept. Undefined where this version cannot read it. */
export function readType(declared: string): Type | undefined {
  const end = declared.lastIndexOf('\n') + 1
  let holder = 'Kept'
  while (declared.includes(holder)) holder += '_'
  const source = `${declared.slice(0, end)}\ntype ${holder} { value: ${declared.slice(end)} }\n`
  const program = checkProgram(source)
  return program.hasErrors ? undefined : program.records.at(-1)?.fields[0]?.type
}

/** The declared type of a live column, where it was kept. */
export const declaredType = ({declared}: {readonly declared: string | undefined}): Type | undefined =>
  declared === undefined ? undefined : readType(declared)

/** Most characters of a type in a table of steps. */
const mostShown = 160

/** A type in one line: of a record or a sum what is in it, as its name may be the same as before. */
export function showContents(type: Type): string {
  const {type: written, declarations} = writeType(type)
  const own = declarations.find((text) => text.startsWith(`type ${written} `))
  const shown = own === undefined ? written : own.slice('type '.length)
  return shown.length > mostShown ? `${shown.slice(0, mostShown - 1)}…` : shown
}

/** Whether every stored value of one type is one of the other, and means the same there. */
export function holdsAll(from: Type, to: Type): boolean {
  // Inside of a column, true is no number; as a column, it is 1.
  if (from.kind === 'bool' && (to.kind === 'int' || to.kind === 'id')) return true
  return holds(from, to, new Map())
}

function holds(from: Type, to: Type, assumed: Map<object, Set<object>>): boolean {
  const inner = (a: Type, b: Type) => holds(a, b, assumed)
  if (to.kind === 'option') return inner(from.kind === 'option' ? from.of : from, to.of)
  switch (from.kind) {
    case 'int':
    case 'id':
      return to.kind === 'int' || to.kind === 'id' || to.kind === 'float'
    case 'dec':
      return to.kind === 'dec' || to.kind === 'str'
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
            const same = to.sum.variants.find(({name}) => name === old.name)
            return same !== undefined && holdFields(old.fields, same.fields, inner)
          }),
        )
      )
    default:
      return from.kind === to.kind
  }
}

/** What was, is there; what is new, may be left out. */
const holdFields = (from: readonly FieldType[], to: readonly FieldType[], inner: (a: Type, b: Type) => boolean) =>
  from.every((old) => {
    const same = to.find(({name}) => name === old.name)
    return same !== undefined && inner(old.type, same.type)
  }) && to.every(({name, type}) => type.kind === 'option' || from.some((old) => old.name === name))

/** Types may contain themselves: a pair that is being compared is taken to hold. */
function once(from: object, to: object, assumed: Map<object, Set<object>>, compare: () => boolean): boolean {
  const known = assumed.get(from) ?? new Set()
  assumed.set(from, known)
  if (known.has(to)) return true
  known.add(to)
  return compare()
}
