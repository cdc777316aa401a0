import {type Diagnostics, didYouMean, near, type Span} from '../diagnostics/index.js'
import type {
  Decl,
  Field,
  FunctionDecl,
  HttpDecl,
  IndexDecl,
  Module,
  Name,
  SumDecl,
  TableDecl,
  TypeNode,
} from '../syntax/index.js'
import {snakeCase} from './names.js'
import {Scope} from './scope.js'
import type {Symbols} from './symbols.js'
import {
  bool,
  bytes,
  type Column,
  dec,
  type FieldType,
  type FunctionType,
  float,
  fn,
  int,
  isStorable,
  json,
  list,
  map,
  option,
  type RecordType,
  request,
  result,
  type SumType,
  show,
  storageOf,
  str,
  type Table,
  type Type,
  unit,
  unknown,
  type VariantType,
} from './types.js'

/** All that a module declares, by name. */
export interface Declarations {
  readonly tables: Map<string, Table>
  readonly records: Map<string, RecordType>
  readonly sums: Map<string, SumType>
  /** A variant's name may be used by several sums. */
  readonly variants: Map<string, {sum: SumType; variant: VariantType}[]>
  readonly functions: Map<string, FunctionType>
  readonly routes: {decl: HttpDecl; function: FunctionType}[]
  /** Every function and route that has a body, in the order of the source, with its scope of parameters. */
  readonly bodies: {function: FunctionType; scope: Scope}[]
  /** What a type in the source means. */
  typeOf(node: TypeNode): Type
}

const simpleTypes: ReadonlyMap<string, Type> = new Map([
  ['int', int],
  ['float', float],
  ['bool', bool],
  ['str', str],
  ['char', str],
  ['dec', dec],
  ['bytes', bytes],
  ['Unit', unit],
  ['Json', json],
])

/** Types that take others, with how many. */
const genericTypes: ReadonlyMap<string, readonly [number, number]> = new Map([
  ['Id', [1, 1]],
  ['List', [1, 1]],
  ['list', [1, 1]],
  ['Set', [1, 1]],
  ['set', [1, 1]],
  ['Map', [2, 2]],
  ['map', [2, 2]],
  ['Option', [1, 1]],
  ['Result', [1, 2]],
])

/** SQLite has no longer names in mind than people do. */
const maxNameBytes = 64
/** SQLite's own limit on columns, `_id` among them, and sqlite-vec's on dimensions. */
const maxColumns = 2000
const maxDimensions = 8192

/** Collects the declarations of a module: first the names, so that the order of the source means nothing. */
export function declare(module: Module, diagnostics: Diagnostics, symbols: Symbols | undefined): Declarations {
  return new Declarer(diagnostics, symbols).run(module.decls)
}

class Declarer {
  readonly #diagnostics: Diagnostics
  readonly #symbols: Symbols | undefined
  readonly #sqlNames = new Map<string, Table>()
  readonly #indexNames = new Set<string>()
  readonly #declared: Declarations = {
    tables: new Map(),
    records: new Map(),
    sums: new Map(),
    variants: new Map(),
    functions: new Map(),
    routes: [],
    bodies: [],
    typeOf: (node) => this.#type(node),
  }

  constructor(diagnostics: Diagnostics, symbols: Symbols | undefined) {
    this.#diagnostics = diagnostics
    this.#symbols = symbols
  }

  run(decls: readonly Decl[]): Declarations {
    const tables: [TableDecl, Table][] = []
    for (const decl of decls) {
      if (decl.kind === 'table') tables.push([decl, this.#tableName(decl)])
      else if (decl.kind === 'record') this.#recordName(decl.name, decl.doc)
      else if (decl.kind === 'sum') this.#sumName(decl)
    }
    for (const decl of decls) {
      if (decl.kind === 'record') this.#fields(decl.fields, this.#declared.records.get(decl.name.text)?.fields ?? [])
      else if (decl.kind === 'sum') this.#variants(decl)
    }
    for (const [decl, table] of tables) this.#columns(decl, table)
    for (const decl of decls) if (decl.kind === 'index') this.#index(decl)
    for (const decl of decls) {
      if (decl.kind === 'function') this.#function(decl)
      else if (decl.kind === 'http') this.#route(decl)
    }
    return this.#declared
  }

  // Names of types

  #tableName(decl: TableDecl): Table {
    const {name, doc} = decl
    const sqlName = snakeCase(name.text)
    const span = {start: name.start, end: name.end}
    const table: Table = {
      name: name.text,
      sqlName,
      columns: [],
      indexes: [],
      id: {name: '_id', type: int, base: int, nullable: false, storage: 'integer', span},
      doc,
      span,
    }
    Object.assign(table.id, {type: {kind: 'id', table}, base: {kind: 'id', table}})
    if (!/^[A-Z]/.test(name.text))
      this.#diagnostics.report('typecheck.table_name', name, `Table name '${name.text}' must be PascalCase.`, {
        fixes: [{label: `Write '${pascalCase(name.text)}'`, ...span, replacement: pascalCase(name.text)}],
      })
    this.#tooLong(name)
    const clash = this.#sqlNames.get(sqlName)
    this.#sqlNames.set(sqlName, clash ?? table)
    if (clash !== undefined && clash.name !== name.text)
      this.#diagnostics.report(
        'typecheck.duplicate_table_name',
        name,
        `Tables '${clash.name}' and '${name.text}' both map to SQL table '${sqlName}'.`,
      )
    if (isInternal(sqlName))
      this.#diagnostics.report(
        'typecheck.table_name',
        name,
        `Table name '${name.text}' is reserved: tables that begin with svc, codex or sqlite belong to the store.`,
      )
    if (this.#newTypeName(name)) this.#declared.tables.set(name.text, table)
    this.#symbols?.define(name, () => `@table type ${name.text}`, doc)
    return table
  }

  #recordName(name: Name, doc: string | undefined): void {
    if (!this.#newTypeName(name)) return
    this.#declared.records.set(name.text, {name: name.text, fields: [], doc, span: name})
    this.#symbols?.define(name, () => `type ${name.text}`, doc)
  }

  #sumName({name, doc}: SumDecl): void {
    if (!this.#newTypeName(name)) return
    this.#declared.sums.set(name.text, {name: name.text, variants: [], doc, span: name})
    this.#symbols?.define(name, () => `type ${name.text}`, doc)
  }

  #newTypeName(name: Name): boolean {
    const {tables, records, sums} = this.#declared
    const before = tables.get(name.text) ?? records.get(name.text) ?? sums.get(name.text)
    if (before === undefined && !simpleTypes.has(name.text) && !genericTypes.has(name.text)) return true
    this.#diagnostics.report('typecheck.duplicate_name', name, `Type ${name.text} is already declared.`, {
      ...(before === undefined ? {} : {related: [{...before.span, message: 'declared first'}]}),
    })
    return false
  }

  #tooLong(name: Name): void {
    // Names are ASCII: a character is a byte.
    if (name.text.length > maxNameBytes)
      this.#diagnostics.report('typecheck.table_name', name, `A stored name has at most ${maxNameBytes} bytes.`)
  }

  // Their contents

  #fields(fields: readonly Field[], into: FieldType[]): void {
    const seen = new Set<string>()
    for (const {name, type} of fields) {
      if (name.text.startsWith('_'))
        this.#diagnostics.report(
          'typecheck.reserved_column',
          name,
          `Field name '${name.text}' is reserved: names that start with _ belong to the store.`,
        )
      if (seen.has(name.text))
        this.#diagnostics.report('typecheck.duplicate_field', name, `Field '${name.text}' is declared twice.`)
      else into.push({name: name.text, type: this.#type(type), span: name})
      seen.add(name.text)
      const declared = into.at(-1)?.type ?? unknown
      this.#symbols?.define(name, () => `${name.text}: ${show(declared)}`)
    }
  }

  #variants(decl: SumDecl): void {
    const sum = this.#declared.sums.get(decl.name.text)
    if (sum === undefined || sum.variants.length > 0) return
    const seen = new Set<string>()
    for (const {name, fields} of decl.variants) {
      if (seen.has(name.text)) {
        this.#diagnostics.report('typecheck.duplicate_name', name, `Variant ${name.text} is already declared.`)
        continue
      }
      seen.add(name.text)
      const variant: VariantType = {name: name.text, fields: [], span: name}
      this.#fields(fields, variant.fields)
      sum.variants.push(variant)
      const known = this.#declared.variants.get(name.text) ?? []
      this.#declared.variants.set(name.text, [...known, {sum, variant}])
      this.#symbols?.define(name, () => `${sum.name}.${name.text}`)
    }
  }

  #columns(decl: TableDecl, table: Table): void {
    if (decl.fields.length >= maxColumns)
      this.#diagnostics.report('typecheck.table_name', decl.name, `A table has at most ${maxColumns - 1} columns.`)
    const seen = new Set<string>()
    for (const {name, type: node} of decl.fields) {
      const {text} = name
      const type = this.#type(node)
      this.#symbols?.define(name, () => `${table.name}.${text}: ${show(type)}`)
      if (text.startsWith('_')) {
        this.#diagnostics.report(
          'typecheck.reserved_column',
          name,
          `Column name '${text}' is reserved: names that start with _ belong to the store.`,
        )
        continue
      }
      this.#tooLong(name)
      if (seen.has(text.toLowerCase())) {
        this.#diagnostics.report(
          'typecheck.duplicate_column',
          name,
          `Table '${table.name}' declares column '${text}' twice.`,
          {
            hints: ['SQLite does not tell column names apart by case.'],
          },
        )
        continue
      }
      seen.add(text.toLowerCase())
      if (text === 'id')
        this.#diagnostics.report(
          'lint.table_id_column',
          name,
          `Table '${table.name}' declares a column 'id'; every table already has the surrogate key '_id'.`,
        )
      if (node !== undefined && (isDoubleOption(node) || !isStorable(type)))
        this.#diagnostics.report('typecheck.column_type', node, `Type ${showNode(node)} cannot be stored in a column.`)
      const base = type.kind === 'option' ? type.of : type
      const nullable = type.kind === 'option'
      table.columns.push({name: text, type, base, nullable, storage: storageOf(base), span: name})
    }
  }

  // Indexes

  #index(decl: IndexDecl): void {
    const table = this.#declared.tables.get(decl.table.text)
    const search = decl.style !== 'btree'
    if (table === undefined) {
      const suggestion = near(decl.table.text, this.#declared.tables.keys())
      this.#diagnostics.report(
        search ? 'lint.search_index_unknown_table' : 'lint.index_unknown_table',
        decl.table,
        `@${decorators[decl.style]} names unknown table '${decl.table.text}'.${didYouMean(suggestion)}`,
        fixName(decl.table, suggestion),
      )
      return
    }
    this.#symbols?.use(decl.table, table.span, () => `@table type ${table.name}`, table.doc)
    if (table.indexes.some(({name}) => name === decl.name.text)) {
      this.#diagnostics.report(
        'typecheck.duplicate_name',
        decl.table,
        `Index ${table.name}.${decl.name.text} is already declared.`,
      )
      return
    }
    if (decl.columns.length === 0)
      this.#diagnostics.report(
        'lint.index_no_columns',
        decl.name,
        `Index ${table.name}.${decl.name.text} has no columns.`,
      )
    const columns = decl.columns.flatMap((name) => this.#indexColumn(decl, table, name) ?? [])
    this.#indexLimits(decl)
    const sqlName = indexName(decl.style, table.sqlName, decl.name.text)
    if (!this.#takeNames(sqlName, decl.style)) {
      this.#diagnostics.report(
        'typecheck.duplicate_name',
        decl.table,
        `Index ${table.name}.${decl.name.text} would be called ${sqlName} in SQL, a name that is taken.`,
      )
      return
    }
    table.indexes.push({
      name: decl.name.text,
      sqlName,
      table,
      style: decl.style,
      columns,
      unique: decl.unique,
      dimensions: decl.dimensions ?? 0,
    })
  }

  /** SQL names that an index needs for itself; false where one is taken. */
  #takeNames(name: string, style: IndexDecl['style']): boolean {
    const suffixes = {
      btree: [''],
      search: ['', '_data', '_idx', '_content', '_docsize', '_config', '_ai', '_ad', '_au'],
      vector: ['', '_chunks', '_rowids', '_info', '_vector_chunks00', '_ai', '_ad', '_au'],
    }
    const names = suffixes[style].map((suffix) => (name + suffix).toLowerCase())
    if (names.some((each) => this.#sqlNames.has(each) || this.#indexNames.has(each))) return false
    for (const each of names) this.#indexNames.add(each)
    return true
  }

  /** What the engines of the indexes refuse. */
  #indexLimits({style, columns, name, dimensions = 0}: IndexDecl): void {
    const reserved = style === 'search' ? ['rank', 'rowid'] : style === 'vector' ? ['distance', 'rowid', 'k'] : []
    const seen = new Set<string>()
    for (const column of columns) {
      const code = style === 'vector' ? 'lint.vector_index_field_type' : 'lint.search_index_field_type'
      if (reserved.includes(column.text.toLowerCase()))
        this.#diagnostics.report(
          code,
          column,
          `Column name '${column.text}' has a meaning of its own in a ${style} index.`,
        )
      if (seen.has(column.text))
        this.#diagnostics.report('typecheck.duplicate_column', column, `Column '${column.text}' is in the index twice.`)
      seen.add(column.text)
    }
    if (style === 'vector' && (dimensions < 1 || dimensions > maxDimensions))
      this.#diagnostics.report(
        'lint.vector_index_field_type',
        name,
        `A vector index has 1 to ${maxDimensions} dimensions.`,
      )
    if (style === 'vector' && columns.length > 1)
      this.#diagnostics.report('lint.vector_index_field_type', name, 'A vector index is on one column.')
  }

  #indexColumn({style}: IndexDecl, table: Table, name: Name): Column | undefined {
    const column = name.text === '_id' ? table.id : table.columns.find((each) => each.name === name.text)
    if (column === undefined) {
      const suggestion = near(
        name.text,
        table.columns.map((each) => each.name),
      )
      this.#diagnostics.report(
        style === 'btree' ? 'lint.index_unknown_column' : 'lint.search_index_unknown_field',
        name,
        `Table '${table.name}' has no column '${name.text}'.${didYouMean(suggestion)}`,
        fixName(name, suggestion),
      )
      return undefined
    }
    this.#symbols?.use(name, column.span, () => `${table.name}.${column.name}: ${show(column.type)}`)
    if (style === 'btree' && column.storage === 'json')
      this.#diagnostics.report(
        'lint.index_column_type',
        name,
        `Column '${name.text}' is stored as JSON and cannot be in a B-tree index.`,
      )
    if (style === 'search' && column.base.kind !== 'str')
      this.#diagnostics.report(
        'lint.search_index_field_type',
        name,
        `A search index takes str columns; '${name.text}' is ${show(column.type)}.`,
      )
    if (style === 'vector' && !isVector(column.base))
      this.#diagnostics.report(
        'lint.vector_index_field_type',
        name,
        `A vector index takes a List[float] or bytes column; '${name.text}' is ${show(column.type)}.`,
      )
    return column
  }

  // Functions and routes

  #function(decl: FunctionDecl): void {
    const {name} = decl
    const before = this.#declared.functions.get(name.text)
    const made = this.#signature(decl, name.text, name)
    this.#symbols?.define(name, () => signature(made.function), decl.doc)
    if (before !== undefined)
      this.#diagnostics.report('typecheck.duplicate_name', name, `Function ${name.text} is already declared.`, {
        related: [{...before.span, message: 'declared first'}],
      })
    else this.#declared.functions.set(name.text, made.function)
    this.#declared.bodies.push(made)
  }

  #route(decl: HttpDecl): void {
    const made = this.#signature(decl, `${decl.method} ${decl.path.text}`, decl.path)
    for (const name of placeholders(decl.path.text))
      if (!made.function.params.some((param) => param.name === name)) {
        const binding = made.scope.bind(name, str, decl.path)
        made.function.params.push({name, type: str, binding, fallback: undefined, optional: false, span: decl.path})
      }
    const binding = made.scope.bind('request', request, decl.path)
    made.function.params.push({
      name: 'request',
      type: request,
      binding,
      fallback: undefined,
      optional: true,
      span: decl.path,
    })
    this.#declared.routes.push({decl, function: made.function})
    this.#declared.bodies.push(made)
  }

  #signature(decl: FunctionDecl | HttpDecl, name: string, span: Span): {function: FunctionType; scope: Scope} {
    const scope = new Scope()
    const made: FunctionType = {
      name,
      decl,
      params: [],
      result: decl.broken ? unknown : decl.result === undefined ? unit : this.#type(decl.result),
      body: undefined,
      slots: 0,
      effects: [],
      chains: [],
      calls: [],
      span,
    }
    const seen = new Set<string>()
    for (const param of decl.params) {
      if (seen.has(param.name.text))
        this.#diagnostics.report(
          'typecheck.duplicate_name',
          param.name,
          `Parameter ${param.name.text} is already declared.`,
        )
      seen.add(param.name.text)
      const type = param.type === undefined ? unknown : this.#type(param.type)
      const binding = scope.bind(param.name.text, type, param.name)
      this.#symbols?.define(param.name, () => `${param.name.text}: ${show(type)}`)
      const optional = param.fallback !== undefined
      made.params.push({name: param.name.text, type, binding, fallback: undefined, optional, span: param.name})
    }
    const served = decl.kind === 'http' || decl.endpoint !== undefined
    if (served) this.#servedTypes(decl, made)
    return {function: made, scope}
  }

  /** What travels over HTTP must be written down, and must be something that can travel. */
  #servedTypes(decl: FunctionDecl | HttpDecl, made: FunctionType): void {
    for (const [i, {name, type: node}] of decl.params.entries()) {
      const type = made.params[i]?.type ?? unknown
      if (node === undefined)
        this.#diagnostics.report('typecheck.param_type', name, `Endpoint parameter '${name.text}' needs a type.`)
      else if (isDoubleOption(node) || !(isStorable(type) || type.kind === 'row'))
        this.#diagnostics.report(
          'typecheck.param_type',
          node,
          `Type ${showNode(node)} cannot be an endpoint parameter.`,
        )
    }
    if (decl.result !== undefined && holdsFunction(made.result))
      this.#diagnostics.report(
        'typecheck.param_type',
        decl.result,
        `Type ${showNode(decl.result)} cannot be an endpoint result.`,
      )
  }

  // Types

  #type(node: TypeNode | undefined): Type {
    if (node === undefined || node.kind === 'wildcard') return unknown
    if (node.kind === 'tuple')
      return node.items.length === 0 ? unit : {kind: 'tuple', items: node.items.map((item) => this.#type(item))}
    if (node.kind === 'function')
      return fn(
        node.params.map((param) => this.#type(param)),
        node.result === undefined ? unit : this.#type(node.result),
      )
    const {text} = node.name
    const {tables, records, sums} = this.#declared
    const arity = genericTypes.get(text)
    if (arity !== undefined) return this.#generic(node, text, arity)
    const table = tables.get(text)
    const record = records.get(text)
    const sum = sums.get(text)
    const declared = table ?? record ?? sum
    const simple = simpleTypes.get(text)
    if (declared === undefined && simple === undefined) {
      const suggestion = near(text, [
        ...simpleTypes.keys(),
        ...genericTypes.keys(),
        ...tables.keys(),
        ...records.keys(),
        ...sums.keys(),
      ])
      this.#diagnostics.report(
        'typecheck.unknown_type',
        node.name,
        `Unknown type '${text}'.${didYouMean(suggestion)}`,
        fixName(node.name, suggestion),
      )
      return unknown
    }
    if (node.args.length > 0) this.#arity(node, text, '0', node.args.length)
    if (declared !== undefined)
      this.#symbols?.use(
        node.name,
        declared.span,
        () => (table === undefined ? `type ${text}` : `@table type ${text}`),
        declared.doc,
      )
    if (table !== undefined) return {kind: 'row', table, selected: undefined}
    if (record !== undefined) return {kind: 'record', record}
    return sum === undefined ? (simple ?? unknown) : {kind: 'sum', sum}
  }

  #generic(node: TypeNode & {kind: 'named'}, name: string, [least, most]: readonly [number, number]): Type {
    const {args} = node
    if (args.length < least || args.length > most) {
      this.#arity(node, name, least === most ? `${least}` : `${least} or ${most}`, args.length)
      return unknown
    }
    const [first, second] = args as readonly [TypeNode, TypeNode | undefined]
    if (name === 'Id') return this.#idType(first)
    const inner = this.#type(first)
    switch (name.toLowerCase()) {
      case 'list':
        return list(inner)
      case 'set':
        return {kind: 'set', of: inner}
      case 'option':
        return option(inner)
      case 'result':
        return result(inner, second === undefined ? str : this.#type(second))
      default:
        if (inner.kind !== 'str' && inner.kind !== 'unknown')
          this.#diagnostics.report('typecheck.mismatch', first, `The keys of a map are str, found ${show(inner)}.`, {
            expectedType: 'str',
            foundType: show(inner),
          })
        return map(this.#type(second))
    }
  }

  #idType(node: TypeNode): Type {
    const name = node.kind === 'named' ? node.name.text : ''
    const table = this.#declared.tables.get(name)
    if (table !== undefined && node.kind === 'named') {
      this.#symbols?.use(node.name, table.span, () => `@table type ${name}`, table.doc)
      return {kind: 'id', table}
    }
    const suggestion = near(name, this.#declared.tables.keys())
    this.#diagnostics.report(
      'typecheck.unknown_table',
      node,
      `Unknown table '${showNode(node)}'.${didYouMean(suggestion)}`,
      node.kind === 'named' ? fixName(node.name, suggestion) : {},
    )
    return unknown
  }

  #arity(node: TypeNode, name: string, takes: string, found: number): void {
    this.#diagnostics.report('typecheck.type_arity', node, `${name} takes ${takes} type argument(s), found ${found}.`)
  }
}

const decorators = {btree: 'index', search: 'search_index', vector: 'vector_index'} as const

/** Names of tables that belong to the store itself. */
export const isInternal = (sqlName: string): boolean => /^(sqlite_|svc_|codex_|_)/.test(sqlName)

export const indexName = (style: IndexDecl['style'], table: string, index: string): string => {
  if (style === 'btree') return `idx_${table}_${index}`
  return `${table}_${index}_${style === 'search' ? 'fts' : 'vec'}`
}

const isVector = (type: Type) =>
  type.kind === 'bytes' || (type.kind === 'list' && (type.of.kind === 'float' || type.of.kind === 'unknown'))

const pascalCase = (name: string) =>
  name.replace(/(^|_+)([a-zA-Z0-9])/g, (_, __, letter: string) => letter.toUpperCase())

const isDoubleOption = (node: TypeNode): boolean => {
  if (node.kind !== 'named') return false
  const [inner] = node.args
  if (inner === undefined) return false
  if (node.name.text === 'Option' && inner.kind === 'named' && inner.name.text === 'Option') return true
  return node.args.some(isDoubleOption)
}

const holdsFunction = (type: Type): boolean => {
  if (type.kind === 'function' || type.kind === 'request') return true
  if ('of' in type) return holdsFunction(type.of)
  return type.kind === 'result' && (holdsFunction(type.ok) || holdsFunction(type.error))
}

/** A type as it was written. */
export function showNode(node: TypeNode): string {
  switch (node.kind) {
    case 'wildcard':
      return '_'
    case 'tuple':
      return `(${node.items.map(showNode).join(', ')})`
    case 'function':
      return `fn(${node.params.map(showNode).join(', ')})${node.result === undefined ? '' : ` to ${showNode(node.result)}`}`
    case 'named':
      return node.args.length === 0 ? node.name.text : `${node.name.text}[${node.args.map(showNode).join(', ')}]`
  }
}

/** `fn(tag: str, max: int) to List[Book]`, with the name where one is given. */
export function signature({decl, params, result: type}: FunctionType, name = ''): string {
  const shown = params.filter((param) => param.type.kind !== 'request')
  const before = decl.kind === 'function' ? `fn ${name || decl.name.text}` : `http ${decl.method} "${decl.path.text}" `
  return `${before}(${shown.map((param) => `${param.name}: ${show(param.type)}`).join(', ')}) to ${show(type)}`
}

/** `{id}` and `:id` of a path. */
export const placeholders = (path: string): string[] =>
  path.split('/').flatMap((segment) => /^(?:\{(\w+)\}|:(\w+))$/.exec(segment)?.slice(1).find(Boolean) ?? [])

/** A fix that puts the right name in place of a wrong one. */
export const fixName = (span: Span, suggestion: string | undefined) =>
  suggestion === undefined
    ? {}
    : {fixes: [{label: `Use ${suggestion}`, start: span.start, end: span.end, replacement: suggestion}]}
