import type {IndexDecl, Name} from '../syntax/index.js'
import type {Declaring} from './declarations.js'
import {repeatedNames} from './names.js'
import {type Column, type Index, show, type Table, type Type} from './types.js'
import {reportUnknownName} from './unknown-name.js'

/** The limit of sqlite-vec. */
const maxDimensions = 8192

const decorators = {btree: 'index', search: 'search_index', vector: 'vector_index'} as const

/** Declares an index. `sqlNames`: the SQL names already in use, in lower case. */
export function declareIndex(d: Declaring, decl: IndexDecl, sqlNames: Set<string>): void {
  const {diagnostics, symbols, declared} = d
  const {name, style, unique, dimensions = 0} = decl
  const table = declared.tables.get(decl.table.text)
  if (table === undefined) {
    reportMissingTable(d, decl)
    return
  }
  const label = `${table.name}.${name.text}`
  symbols?.use(decl.table, table.span, () => `@table type ${table.name}`, table.doc)
  if (table.indexes.some((index) => index.name === name.text)) {
    diagnostics.report('typecheck.duplicate_name', decl.table, `Index ${label} is already declared.`)
    return
  }
  if (decl.columns.length === 0) diagnostics.report('lint.index_no_columns', name, `Index ${label} has no columns.`)
  const columns: Column[] = []
  for (const written of decl.columns) {
    const column = indexColumn(d, style, table, written)
    if (column !== undefined) columns.push(column)
  }
  checkLimits(d, decl)
  const sqlName = indexName(style, table.sqlName, name.text)
  if (!takeNames(sqlNames, sqlName, style)) {
    const message = `Index ${label} maps to the SQL name ${sqlName}, which is already in use.`
    diagnostics.report('typecheck.duplicate_name', decl.table, message)
    return
  }
  const index: Index = {name: name.text, sqlName, table, style, columns, unique, dimensions}
  if (decl.where !== undefined) declared.conditions.push({table, target: index, expr: decl.where})
  table.indexes.push(index)
  declared.indexes.push(index)
}

/** Reports an index on a name that is not a table. */
function reportMissingTable({diagnostics, declared}: Declaring, {table: {text}, table, style}: IndexDecl): void {
  const type = declared.records.get(text) ?? declared.sums.get(text)
  if (type !== undefined && style !== 'btree') {
    diagnostics.report(
      'lint.search_index_not_table',
      table,
      `@${decorators[style]} needs a table; '${text}' is a type.`,
      {
        hints: [`Declare ${text} as @table type, or name a table.`],
        related: [{...type.span, message: 'declared here'}],
      },
    )
    return
  }
  const code = style === 'btree' ? 'lint.index_unknown_table' : 'lint.search_index_unknown_table'
  const message = `@${decorators[style]} names unknown table '${text}'.`
  reportUnknownName(diagnostics, code, table, message, declared.tables.keys())
}

function indexName(style: IndexDecl['style'], table: string, index: string): string {
  if (style === 'btree') return `idx_${table}_${index}`
  return `${table}_${index}_${style === 'search' ? 'fts' : 'vec'}`
}

/** Suffixes of the SQL names that an index needs. */
const suffixes = {
  btree: [''],
  search: ['', '_data', '_idx', '_content', '_docsize', '_config', '_ai', '_ad', '_au'],
  vector: ['', '_chunks', '_rowids', '_info', '_vector_chunks00', '_ai', '_ad', '_au'],
}

/** Reserves the SQL names that an index needs; false if one is in use. */
function takeNames(taken: Set<string>, name: string, style: IndexDecl['style']): boolean {
  const lower = name.toLowerCase()
  if (suffixes[style].some((suffix) => taken.has(lower + suffix))) return false
  for (const suffix of suffixes[style]) taken.add(lower + suffix)
  return true
}

/** Column names that the index engine uses itself. */
const reservedColumns = {btree: [], search: ['rank', 'rowid'], vector: ['distance', 'rowid', 'k']}

const textOf = ({text}: Name) => text

/** Checks the limits of the index engines. */
function checkLimits({diagnostics}: Declaring, {style, columns, name, dimensions = 0}: IndexDecl): void {
  const code = style === 'vector' ? 'lint.vector_index_field_type' : 'lint.search_index_field_type'
  const reserved: readonly string[] = reservedColumns[style]
  const repeated = repeatedNames(columns, textOf)
  for (const column of columns) {
    const {text} = column
    if (reserved.includes(text.toLowerCase()))
      diagnostics.report(code, column, `Column name '${text}' is reserved in a ${style} index.`)
    if (repeated.has(column))
      diagnostics.report('typecheck.duplicate_column', column, `Column '${text}' is in the index twice.`)
  }
  if (style !== 'vector') return
  if (dimensions < 1 || dimensions > maxDimensions)
    diagnostics.report(code, name, `A vector index must have 1 to ${maxDimensions} dimensions.`)
  if (columns.length > 1) diagnostics.report(code, name, 'A vector index must have exactly one column.')
}

const isVector = (type: Type) =>
  type.kind === 'bytes' || (type.kind === 'list' && (type.of.kind === 'float' || type.of.kind === 'unknown'))

function indexColumn(
  {diagnostics, symbols}: Declaring,
  style: IndexDecl['style'],
  table: Table,
  name: Name,
): Column | undefined {
  const {text} = name
  const column = text === '_id' ? table.id : table.columns.find((each) => each.name === text)
  if (column === undefined) {
    const code = style === 'btree' ? 'lint.index_unknown_column' : 'lint.search_index_unknown_field'
    const known = table.columns.map((each) => each.name)
    reportUnknownName(diagnostics, code, name, `Table '${table.name}' has no column '${text}'.`, known)
    return undefined
  }
  symbols?.use(name, column.span, () => `${table.name}.${column.name}: ${show(column.type)}`)
  // The unknown type is already reported.
  if (column.base.kind === 'unknown') return column
  if (style === 'btree' && column.storage === 'json')
    diagnostics.report(
      'lint.index_column_type',
      name,
      `Column '${text}' is stored as JSON and cannot be in a B-tree index.`,
    )
  if (style === 'search' && column.base.kind !== 'str')
    diagnostics.report(
      'lint.search_index_field_type',
      name,
      `A search index needs str columns; '${text}' is ${show(column.type)}.`,
    )
  if (style === 'vector' && !isVector(column.base))
    diagnostics.report(
      'lint.vector_index_field_type',
      name,
      `A vector index needs a List[float] or bytes column; '${text}' is ${show(column.type)}.`,
    )
  return column
}
