import {counted} from '../../errors/index.js'
import {
  type Column,
  type DeleteAction,
  type FunctionType,
  kindOf,
  type Program,
  reachable,
  show,
  type Table,
  type Type,
  type Visitor,
  visitSome,
} from '../check/index.js'

/** A compact program schema, for people and for models that write programs. */
export interface SchemaDigest {
  tables: {
    name: string
    fields: {
      name: string
      type_str: string
      is_optional: boolean
      references_table?: string
      on_delete?: DeleteAction
      /** The condition that each row meets. */
      check?: string
      /** The store sets it, so that an insert cannot. */
      set_by_store?: 'created_at' | 'updated_at'
    }[]
    example_insert: string
    example_query: string
  }[]
  relationships: {from_table: string; from_field: string; to_table: string; kind: 'one_to_one' | 'one_to_many'}[]
  indexes: {
    table_name: string
    index_name: string
    kind: string
    columns: string[]
    /** The condition of the rows in the index. */
    where?: string
    dimensions?: number
    filter_fields: string[]
  }[]
  queries: EndpointDigest[]
  mutations: EndpointDigest[]
  summary: string
}

interface EndpointDigest {
  name: string
  params: {name: string; type_str: string}[]
  return_type: string
  affected_tables: string[]
}

export function schemaDigest(program: Program): SchemaDigest {
  const endpoints = (kind: string) => program.functions.filter((made) => kindOf(made) === kind).map(endpoint)
  const [queries, mutations] = [endpoints('query'), endpoints('mutation')]
  return {
    tables: program.tables.map(tableDigest),
    relationships: program.tables.flatMap(relationships),
    indexes: program.indexes.map(({table, name, style, columns, where, dimensions}) => ({
      table_name: table.name,
      index_name: name,
      kind: style === 'btree' ? 'standard' : style,
      columns: columns.map((column) => column.name),
      ...(where === undefined ? {} : {where: where.text}),
      ...(style === 'vector' ? {dimensions} : {}),
      filter_fields: [],
    })),
    queries,
    mutations,
    summary: [
      counted(program.tables.length, 'table'),
      counted(program.indexes.length, 'index', 'indexes'),
      counted(queries.length, 'query', 'queries'),
      counted(mutations.length, 'mutation', 'mutations'),
    ].join(', '),
  }
}

function tableDigest({name, columns}: Table): SchemaDigest['tables'][number] {
  const required = columns.filter(({nullable, hasDefault = false}) => !nullable && !hasDefault)
  const [first = columns[0]] = required
  const example = (column: Column) => `${column.name}: ${exampleOf(column.base)}`
  return {
    name,
    fields: columns.map((column) => {
      const target = referenced(column.base)
      return {
        name: column.name,
        type_str: show(column.type),
        is_optional: column.nullable,
        ...(target === undefined ? {} : {references_table: target.table.name}),
        ...(column.onDelete === undefined ? {} : {on_delete: column.onDelete}),
        ...(column.check === undefined ? {} : {check: column.check.text}),
        ...(column.stamp === undefined ? {} : {set_by_store: column.stamp}),
      }
    }),
    example_insert: `db.${name}.insert({ ${required.map(example).join(', ')} })`,
    example_query: first === undefined ? `db.${name}.all()` : `db.${name}.filter({ ${example(first)} })`,
  }
}

/** The table of an `Id[T]` or a list of such ids. */
function referenced(type: Type): {table: Table; many: boolean} | undefined {
  if (type.kind === 'id') return {table: type.table, many: false}
  if (type.kind === 'list' && type.of.kind === 'id') return {table: type.of.table, many: true}
  return undefined
}

function relationships({name, columns}: Table): SchemaDigest['relationships'] {
  return columns.flatMap((column) => {
    const target = referenced(column.base)
    if (target === undefined) return []
    const kind = target.many ? 'one_to_many' : 'one_to_one'
    return [{from_table: name, from_field: column.name, to_table: target.table.name, kind} as const]
  })
}

const endpoint = (made: FunctionType): EndpointDigest => ({
  name: made.name,
  params: made.params.map(({name, type}) => ({name, type_str: show(type)})),
  return_type: show(made.result),
  affected_tables: [...new Set([...reachable(made)].flatMap(({chains}) => chains.map(({table}) => table.name)))],
})

const exampleOf = (type: Type, depth = 0): string =>
  depth > 2
    ? '...'
    : visitSome(
        type,
        examples,
        (of) => exampleOf(of, depth + 1),
        () => '{}',
      )

const examples: Partial<Visitor<Type, string, (of: Type) => string>> = {
  int: () => '0',
  id: () => '1',
  float: () => '0.0',
  bool: () => 'false',
  str: () => '"..."',
  bytes: () => '"..."',
  dec: () => '0.00dec',
  date: () => 'Date("2024-05-31")',
  datetime: () => 'DateTime("2024-05-31T10:00:00Z")',
  duration: () => 'Duration("PT1H")',
  list: () => '[]',
  set: () => '[]',
  record: ({record}, inner) => {
    const required = record.fields.filter((field) => field.type.kind !== 'option')
    return `{ ${required.map((field) => `${field.name}: ${inner(field.type)}`).join(', ')} }`
  },
  sum: ({sum: {variants}}, inner) => {
    const [first] = variants
    if (first === undefined) return '{}'
    const fields = first.fields.map((field) => inner(field.type)).join(', ')
    return first.fields.length === 0 ? first.name : `${first.name}(${fields})`
  },
  tuple: ({items}, inner) => `(${items.map(inner).join(', ')})`,
}
