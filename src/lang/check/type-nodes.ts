import {didYouMean, near} from '../diagnostics/index.js'
import type {TypeNode} from '../syntax/index.js'
import type {Declarations, Declaring} from './declarations.js'
import {timeTypes} from './time-builtins.js'
import {
  bool,
  bytes,
  dec,
  float,
  fn,
  int,
  json,
  list,
  map,
  option,
  pageOf,
  result,
  show,
  str,
  type Type,
  unit,
  unknown,
} from './types.js'
import {fixName, reportUnknown} from './unknown-name.js'

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

/** Types of other languages, and the type to use instead. */
const foreignTypes: ReadonlyMap<string, string> = new Map([
  ['string', 'str'],
  ['String', 'str'],
  ['boolean', 'bool'],
  ['integer', 'int'],
  ['number', 'float'],
  ['double', 'float'],
  ['decimal', 'dec'],
  ['void', 'Unit'],
  ['any', 'Json'],
  ['Array', 'List'],
  ...['text', 'Text', 'varchar', 'VARCHAR', 'uuid', 'UUID'].map((name) => [name, 'str'] as const),
  ...['Int', 'Integer', 'bigint', 'BigInt', 'long', 'Long', 'serial'].map((name) => [name, 'int'] as const),
  ...['Float', 'Double', 'real', 'Number'].map((name) => [name, 'float'] as const),
  ...['numeric', 'Decimal', 'money'].map((name) => [name, 'dec'] as const),
  ...['json', 'jsonb', 'JSON', 'object', 'unknown'].map((name) => [name, 'Json'] as const),
  ...['Boolean', 'Bool'].map((name) => [name, 'bool'] as const),
  ['null', 'Option'],
  ['dict', 'Map'],
  ['Dict', 'Map'],
  ['Record', 'Map'],
  ['Optional', 'Option'],
  ['Maybe', 'Option'],
  ['Buffer', 'bytes'],
  ['blob', 'bytes'],
  ['date', 'Date'],
  ['datetime', 'DateTime'],
  ['timestamp', 'DateTime'],
  ['Timestamp', 'DateTime'],
  ['Instant', 'DateTime'],
  ['timedelta', 'Duration'],
  ['interval', 'Duration'],
])

/** Generic types, with their minimum and maximum number of type arguments. */
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

/** `Page[T]`, unless the program declares a type of this name. */
const pageType = 'Page'

/** Whether a program declares a type or variant, which has precedence over a built-in one. */
export const isDeclaredType = ({tables, records, sums, variants}: Declarations, name: string): boolean =>
  tables.has(name) || records.has(name) || sums.has(name) || variants.has(name)

export const isBuiltinType = (name: string): boolean => simpleTypes.has(name) || genericTypes.has(name)

/** Resolves a type node. */
export function readTypeNode(d: Declaring, node: TypeNode | undefined): Type {
  if (node === undefined || node.kind === 'wildcard') return unknown
  if (node.kind === 'named') return readNamedType(d, node)
  const read = (inner: TypeNode) => readTypeNode(d, inner)
  if (node.kind === 'tuple') return node.items.length === 0 ? unit : {kind: 'tuple', items: node.items.map(read)}
  return fn(node.params.map(read), node.result === undefined ? unit : read(node.result))
}

function readNamedType(d: Declaring, node: TypeNode & {kind: 'named'}): Type {
  const {name, args} = node
  const {text} = name
  const {tables, records, sums} = d.declared
  const arity = genericTypes.get(text)
  if (arity !== undefined) return readGenericType(d, node, arity)
  const table = tables.get(text)
  const record = records.get(text)
  const sum = sums.get(text)
  const declared = table ?? record ?? sum
  if (text === pageType && declared === undefined) return readGenericType(d, node, [1, 1])
  const simple = simpleTypes.get(text) ?? timeTypes.get(text)
  if (declared === undefined && simple === undefined) {
    const known = [simpleTypes, timeTypes, genericTypes, tables, records, sums].flatMap((types) => [...types.keys()])
    const suggestion = foreignTypes.get(text) ?? near(text, known)
    reportUnknown(d.diagnostics, 'typecheck.unknown_type', name, `Unknown type '${text}'.`, suggestion, {})
    return unknown
  }
  if (args.length > 0) reportArity(d, node, '0')
  if (declared !== undefined) {
    const label = table === undefined ? `type ${text}` : `@table type ${text}`
    d.symbols?.use(name, declared.span, () => label, declared.doc)
  }
  if (table !== undefined) return {kind: 'row', table, selected: undefined}
  if (record !== undefined) return {kind: 'record', record}
  return sum === undefined ? (simple ?? unknown) : {kind: 'sum', sum}
}

function readGenericType(d: Declaring, node: TypeNode & {kind: 'named'}, arity: readonly [number, number]): Type {
  const min = arity[0]
  const max = arity[1]
  const {name, args} = node
  if (args.length < min || args.length > max) {
    reportArity(d, node, min === max ? `${min}` : `${min} or ${max}`)
    return unknown
  }
  const first = args[0] as TypeNode
  const second = args[1]
  if (name.text === 'Id') return readIdType(d, first)
  const inner = readTypeNode(d, first)
  switch (name.text.toLowerCase()) {
    case 'list':
      return list(inner)
    case 'set':
      return {kind: 'set', of: inner}
    case 'option':
      return option(inner)
    case 'page':
      return pageOf(inner)
    case 'result':
      return result(inner, second === undefined ? str : readTypeNode(d, second))
    default:
      if (inner.kind !== 'str' && inner.kind !== 'unknown')
        d.diagnostics.report('typecheck.mismatch', first, `Map keys must be str, found ${show(inner)}.`, {
          expectedType: 'str',
          foundType: show(inner),
        })
      return map(readTypeNode(d, second))
  }
}

function readIdType({diagnostics, symbols, declared}: Declaring, node: TypeNode): Type {
  const name = node.kind === 'named' ? node.name.text : ''
  const table = declared.tables.get(name)
  if (table !== undefined && node.kind === 'named') {
    symbols?.use(node.name, table.span, () => `@table type ${name}`, table.doc)
    return {kind: 'id', table}
  }
  const suggestion = near(name, declared.tables.keys())
  diagnostics.report(
    'typecheck.unknown_table',
    node,
    `Unknown table '${showNode(node)}'.${didYouMean(suggestion)}`,
    node.kind === 'named' ? fixName(node.name, suggestion) : {},
  )
  return unknown
}

const reportArity = ({diagnostics}: Declaring, node: TypeNode & {kind: 'named'}, takes: string) =>
  diagnostics.report(
    'typecheck.type_arity',
    node,
    `${node.name.text} takes ${takes} type argument(s), found ${node.args.length}.`,
  )

export function isDoubleOption(node: TypeNode): boolean {
  if (node.kind !== 'named') return false
  const inner = node.args[0]
  if (inner === undefined) return false
  if (node.name.text === 'Option' && inner.kind === 'named' && inner.name.text === 'Option') return true
  return node.args.some(isDoubleOption)
}

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
