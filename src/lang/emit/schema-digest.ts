import {
  type Column,
  type FunctionType,
  kindOf,
  type Program,
  reachable,
  show,
  type Table,
  type Type,
} from '../check/index.js'

/** A program's schema in few words: for people, and for models that write programs. */
export interface SchemaDigest {
  tables: {
    name: string
    fields: {name: string; type_str: string; is_optional: boolean; references_table?: string}[]
    example_insert: string
    example_query: string
  }[]
  relationships: {from_table: string; from_field: string; to_table: string; kind: 'one_to_one' | 'one_to_many'}[]
  indexes: {
    table_name: string
    index_name: string
    kind: string
    columns: string[]
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
  const count = (n: number, one: string, many: string) => `${n} ${n === 1 ? one : many}`
  return {
    tables: program.tables.map(tableDigest),
    relationships: program.tables.flatMap(relationships),
    indexes: program.indexes.map(({table, name, style, columns, dimensions}) => ({
      table_name: table.name,
      index_name: name,
      kind: style === 'btree' ? 'standard' : style,
      columns: columns.map((column) => column.name),
      ...(style === 'vector' ? {dimensions} : {}),
      filter_fields: [],
    })),
    queries,
    mutations,
    summary: [
      count(program.tables.length, 'table', 'tables'),
      count(program.indexes.length, 'index', 'indexes'),
      count(queries.length, 'query', 'queries'),
      count(mutations.length, 'mutation', 'mutations'),
    ].join(', '),
  }
}

function tableDigest({name, columns}: Table): SchemaDigest['tables'][number] {
  const required = columns.filter(({nullable}) => !nullable)
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
      }
    }),
    example_insert: `db.${name}.insert({ ${required.map(example).join(', ')} })`,
    example_query: first === undefined ? `db.${name}.all()` : `db.${name}.filter({ ${example(first)} })`,
  }
}

/** `Id[T]`, or a list of them. */
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

function exampleOf(type: Type, depth = 0): string {
  const inner = (of: Type) => exampleOf(of, depth + 1)
  if (depth > 2) return '...'
  switch (type.kind) {
    case 'int':
      return '0'
    case 'id':
      return '1'
    case 'float':
      return '0.0'
    case 'bool':
      return 'false'
    case 'str':
    case 'bytes':
      return '"..."'
    case 'dec':
      return '0.00dec'
    case 'list':
    case 'set':
      return '[]'
    case 'record':
      return `{ ${type.record.fields
        .filter((field) => field.type.kind !== 'option')
        .map((field) => `${field.name}: ${inner(field.type)}`)
        .join(', ')} }`
    case 'sum': {
      const [first] = type.sum.variants
      if (first === undefined) return '{}'
      return first.fields.length === 0
        ? first.name
        : `${first.name}(${first.fields.map((field) => inner(field.type)).join(', ')})`
    }
    case 'tuple':
      return `(${type.items.map(inner).join(', ')})`
    default:
      return '{}'
  }
}
