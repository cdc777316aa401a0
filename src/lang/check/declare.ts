import type {Diagnostics} from '../diagnostics/index.js'
import type {ConstDecl, Decl, Expr, Field, IndexDecl, Module, Name, SumDecl, TableDecl} from '../syntax/index.js'
import {warnSkipped} from './constants.js'
import type {Declarations, Declaring} from './declarations.js'
import {declareIndex} from './indexes.js'
import {isInternal, repeatedNames, snakeCase} from './names.js'
import {declareFunction, declareRoute} from './signatures.js'
import type {Symbols} from './symbols.js'
import {isBuiltinType, isDoubleOption, readTypeNode, showNode} from './type-nodes.js'
import {
  type Column,
  type DeleteAction,
  deleteActions,
  type FieldType,
  int,
  isStorable,
  show,
  storageOf,
  type Table,
  type Type,
  unknown,
  type VariantType,
} from './types.js'

/** Maximum length of a table or column name. */
const maxNameBytes = 64
/** The limit of SQLite, including `_id`. */
const maxColumns = 2000

/** Collects the declarations of a module: names first, so that source order does not matter. */
export function declare({decls}: Module, diagnostics: Diagnostics, symbols: Symbols | undefined): Declarations {
  const declared: Declarations = {
    tables: new Map(),
    records: new Map(),
    sums: new Map(),
    variants: new Map(),
    functions: new Map(),
    constants: new Map(),
    defaults: [],
    conditions: [],
    indexes: [],
    routes: [],
    tests: [],
    bodies: [],
    typeOf: (node, own = diagnostics) => readTypeNode({...d, diagnostics: own}, node),
  }
  const d: Declaring = {diagnostics, symbols, declared}
  const tables = declareTypeNames(d, decls)
  refuseKept(
    d,
    'Table',
    decls.filter((decl) => decl.kind === 'table'),
    ({text}) => snakeCase(text),
  )
  for (const decl of decls) {
    if (decl.kind === 'record') declareFields(d, decl.fields, declared.records.get(decl.name.text)?.fields ?? [], true)
    else if (decl.kind === 'sum') declareVariants(d, decl)
  }
  for (const [decl, table] of tables) declareColumns(d, decl, table)
  const sqlNames = new Set(tables.map(([, {sqlName}]) => sqlName))
  for (const [decl] of tables) for (const index of uniqueColumns(decl)) declareIndex(d, index, sqlNames)
  for (const decl of decls) if (decl.kind === 'index') declareIndex(d, decl, sqlNames)
  for (const decl of decls) {
    if (decl.kind === 'function') declareFunction(d, decl)
    else if (decl.kind === 'http') declareRoute(d, decl)
  }
  for (const decl of decls) if (decl.kind === 'const') declareConstant(d, decl)
  return declared
}

function declareConstant({diagnostics, declared}: Declaring, decl: ConstDecl): void {
  const {name, fault} = decl
  const before = declared.constants.get(name.text)
  const constant = {decl, value: undefined, fault, isUsed: false, repeated: []}
  if (before !== undefined) before.repeated.push(decl)
  else if (declared.functions.has(name.text))
    warnSkipped(decl, `Function ${name.text} is already declared.`, diagnostics)
  else declared.constants.set(name.text, constant)
}

// Type names

function declareTypeNames(d: Declaring, decls: readonly Decl[]): [TableDecl, Table][] {
  const tables: [TableDecl, Table][] = []
  const bySqlName = new Map<string, Table>()
  for (const decl of decls) {
    if (decl.kind === 'table') tables.push([decl, declareTable(d, decl, bySqlName)])
    else if (decl.kind === 'record' || decl.kind === 'sum') {
      const {name, doc} = decl
      if (!isNewTypeName(d, name)) continue
      const {text} = name
      if (decl.kind === 'record') d.declared.records.set(text, {name: text, fields: [], doc, span: name})
      else d.declared.sums.set(text, {name: text, variants: [], doc, span: name})
      d.symbols?.define(name, () => `type ${text}`, doc)
    }
  }
  return tables
}

function declareTable(d: Declaring, {name, was, doc}: TableDecl, bySqlName: Map<string, Table>): Table {
  const {diagnostics, symbols, declared} = d
  const {text} = name
  const sqlName = snakeCase(text)
  const span = {start: name.start, end: name.end}
  const id = {name: '_id', type: int, base: int, nullable: false, storage: 'integer' as const, span}
  const table: Table = {
    name: text,
    sqlName,
    columns: [],
    indexes: [],
    referrers: [],
    id,
    doc,
    span,
    ...earlier(was && snakeCase(was.text)),
  }
  id.type = {kind: 'id', table}
  id.base = id.type
  if (!/^[A-Z]/.test(text))
    diagnostics.report('typecheck.table_name', name, `Table name '${text}' must be PascalCase.`, {
      fixes: [{label: `Write '${pascalCase(text)}'`, ...span, replacement: pascalCase(text)}],
    })
  checkLength(d, name)
  const clash = bySqlName.get(sqlName)
  bySqlName.set(sqlName, clash ?? table)
  if (clash !== undefined && clash.name !== text)
    diagnostics.report(
      'typecheck.duplicate_table_name',
      name,
      `Tables '${clash.name}' and '${text}' both map to SQL table '${sqlName}'.`,
    )
  if (isInternal(sqlName))
    diagnostics.report(
      'typecheck.table_name',
      name,
      `Table name '${text}' is reserved: names that start with svc, codex or sqlite belong to the store.`,
    )
  if (isNewTypeName(d, name)) declared.tables.set(text, table)
  symbols?.define(name, () => `@table type ${text}`, doc)
  return table
}

function isNewTypeName({diagnostics, declared}: Declaring, name: Name): boolean {
  const {text} = name
  const before = declared.tables.get(text) ?? declared.records.get(text) ?? declared.sums.get(text)
  if (before === undefined && !isBuiltinType(text)) return true
  const details = before === undefined ? {} : {related: [{...before.span, message: 'first declared'}]}
  diagnostics.report('typecheck.duplicate_name', name, `Type ${text} is already declared.`, details)
  return false
}

function checkLength({diagnostics}: Declaring, name: Name): void {
  // Names are ASCII, so one character is one byte.
  if (name.text.length > maxNameBytes)
    diagnostics.report('typecheck.table_name', name, `Name '${name.text}' is longer than ${maxNameBytes} bytes.`)
}

// Type contents

/** Whether a name is reserved for the store; reports a reserved name. */
function isReserved({diagnostics}: Declaring, what: string, name: Name): boolean {
  if (!name.text.startsWith('_')) return false
  const message = `${what} name '${name.text}' is reserved: names that start with _ belong to the store.`
  diagnostics.report('typecheck.reserved_column', name, message)
  return true
}

/** @param allowsId whether a field can be `_id`, so that a record can have the columns of a row */
function declareFields(d: Declaring, fields: readonly Field[], into: FieldType[], allowsId = false): void {
  const seen = new Set<string>()
  for (const {name, type} of fields) {
    if (!(allowsId && name.text === '_id')) isReserved(d, 'Field', name)
    if (seen.has(name.text))
      d.diagnostics.report('typecheck.duplicate_field', name, `Field '${name.text}' is declared twice.`)
    else into.push({name: name.text, type: readTypeNode(d, type), span: name})
    seen.add(name.text)
    const declared = into.at(-1)?.type ?? unknown
    d.symbols?.define(name, () => `${name.text}: ${show(declared)}`)
  }
}

function declareVariants(d: Declaring, decl: SumDecl): void {
  const {sums, variants} = d.declared
  const sum = sums.get(decl.name.text)
  if (sum === undefined || sum.variants.length > 0) return
  const seen = new Set<string>()
  refuseKept(d, 'Variant', decl.variants, ({text}) => text)
  for (const {name, was, fields} of decl.variants) {
    if (seen.has(name.text)) {
      d.diagnostics.report('typecheck.duplicate_name', name, `Variant ${name.text} is already declared.`)
      continue
    }
    seen.add(name.text)
    const variant: VariantType = {name: name.text, fields: [], span: name, ...earlier(was?.text)}
    declareFields(d, fields, variant.fields)
    sum.variants.push(variant)
    variants.set(name.text, [...(variants.get(name.text) ?? []), {sum, variant}])
    d.symbols?.define(name, () => `${sum.name}.${name.text}`)
  }
}

function declareColumns(d: Declaring, decl: TableDecl, table: Table): void {
  const {diagnostics} = d
  if (decl.fields.length >= maxColumns)
    diagnostics.report(
      'typecheck.table_name',
      decl.name,
      `Table '${table.name}' has more than ${maxColumns - 1} columns.`,
    )
  const repeated = repeatedNames(decl.fields, caselessName)
  refuseKept(d, 'Column', decl.fields, ({text}) => text.toLowerCase())
  for (const field of decl.fields) {
    const {name, type: node} = field
    const {text} = name
    const type = readTypeNode(d, node)
    d.symbols?.define(name, () => `${table.name}.${text}: ${show(type)}`)
    if (isReserved(d, 'Column', name)) continue
    checkLength(d, name)
    if (repeated.has(field)) {
      const message = `Table '${table.name}' declares column '${text}' twice.`
      const hints = ['Column names are case-insensitive in SQLite.']
      diagnostics.report('typecheck.duplicate_column', name, message, {hints})
      continue
    }
    if (text === 'id')
      diagnostics.report(
        'lint.table_id_column',
        name,
        `Table '${table.name}' declares a column 'id'; every table already has the surrogate key '_id'.`,
      )
    if (node !== undefined && (isDoubleOption(node) || !isStorable(type)))
      diagnostics.report('typecheck.column_type', node, `Type ${showNode(node)} cannot be stored in a column.`, {
        hints: type.kind === 'row' ? [`A column that refers to a row has the type Id[${type.table.name}].`] : [],
      })
    const nullable = type.kind === 'option'
    const base = nullable ? type.of : type
    const column: Column = {
      ...{name: text, type, base, nullable, storage: storageOf(base), span: name},
      ...(field.fallback === undefined && field.stamp === undefined ? {} : {hasDefault: true}),
      ...earlier(field.was?.text),
      ...(field.stamp === undefined ? {} : {stamp: field.stamp.text.slice(1) as 'created_at' | 'updated_at'}),
      ...(field.onDelete === undefined ? {} : deleteAction(d, field.onDelete, type)),
    }
    table.columns.push(column)
    if (column.onDelete !== undefined && base.kind === 'id') base.table.referrers?.push({table, column})
    if (field.stamp !== undefined) declareStamp(d, column, field.stamp, field.fallback)
    else if (field.fallback !== undefined) d.declared.defaults.push({column, expr: field.fallback})
    if (field.check !== undefined) d.declared.conditions.push({table, target: column, expr: field.check})
  }
}

/** The store sets the column to the time, which is like a default that no record replaces. */
function declareStamp({diagnostics, declared}: Declaring, column: Column, stamp: Name, fallback: Expr | undefined) {
  const {start, end} = stamp
  if (fallback !== undefined)
    diagnostics.report('typecheck.stamp', fallback, `A column with ${stamp.text} has no default: the store sets it.`)
  declared.defaults.push({column, expr: {kind: 'missing', depth: 0, start, end}})
}

/** What `on delete` says about a column of a type. */
function deleteAction({diagnostics}: Declaring, written: Name, type: Type): Pick<Column, 'onDelete'> {
  const {text} = written
  const base = type.kind === 'option' ? type.of : type
  if (base.kind === 'unknown') return {}
  const fault =
    base.kind !== 'id'
      ? `on delete needs a column of type Id[T]; this one is ${show(type)}.`
      : !Object.hasOwn(deleteActions, text)
        ? `on delete is restrict, cascade or set_null; found '${text}'.`
        : text === 'set_null' && type.kind !== 'option'
          ? `on delete set_null needs a column of type Option[${show(base)}].`
          : undefined
  if (fault === undefined) return {onDelete: text as DeleteAction}
  diagnostics.report('typecheck.on_delete', written, fault)
  return {}
}

/** The indexes of columns that are declared `unique`; each has the name of its column. */
const uniqueColumns = ({name: table, fields}: TableDecl): IndexDecl[] =>
  fields
    .filter(({unique}) => unique === true)
    .map(({name, start, end}) => ({
      ...({kind: 'index', style: 'btree', unique: true, where: undefined, dimensions: undefined} as const),
      ...{table, name, columns: [name], start, end},
    }))

const earlier = (was: string | undefined) => (was === undefined ? {} : {was})

/** Reports an earlier name that another declaration still has, or that two declarations claim. */
function refuseKept(
  {diagnostics}: Declaring,
  what: string,
  declared: readonly {readonly name: Name; readonly was?: Name | undefined}[],
  key: (name: Name) => string,
): void {
  const taken = new Set(declared.map(({name}) => key(name)))
  for (const {was} of declared) {
    if (was === undefined) continue
    if (taken.has(key(was)))
      diagnostics.report('typecheck.was', was, `${what} '${was.text}' is declared, so nothing else can have been it.`)
    taken.add(key(was))
  }
}

const caselessName = ({name}: Field) => name.text.toLowerCase()

const pascalCase = (name: string) =>
  name.replace(/(^|_+)([a-zA-Z0-9])/g, (_, __, letter: string) => letter.toUpperCase())
