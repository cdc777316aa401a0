import type {Tokens} from '../tokens.js'
import {chainTo, tableChain} from './chain.js'

/** The meaning of the keys of an object literal. */
export type Literal =
  | {readonly of: 'row'; readonly table: string}
  | {readonly of: 'predicate'; readonly table: string; readonly nests: boolean}
  /** Below a column, or below members of its values. */
  | {readonly of: 'column'; readonly table: string; readonly path: readonly string[]}
  | {readonly of: 'type'; readonly name: string}

/** Tokens before an expression; after them, a name followed by a brace is a record. */
const beforeExpression: ReadonlySet<string> = new Set(['(', '[', '{', ',', ':', '=', '=>', 'return'])

/** The purpose of the object literal that starts at a brace; undefined if it is a block or unknown. */
export function literalAt(tokens: Tokens, brace: number): Literal | undefined {
  const before = tokens.text(brace - 1)
  const around = tokens.around(brace)
  if (/^[A-Z]/.test(before) && beginsExpression(tokens, brace - 1)) return {of: 'type', name: before}
  if (tokens.text(around) === '(') return argument(tokens, brace, around)
  if (tokens.text(around) === '{' && before === ':') return below(tokens, brace - 2, around)
  if (tokens.text(around) === '[' && tokens.text(around - 1) === ':') return part(tokens, around)
  return undefined
}

const beginsExpression = (tokens: Tokens, i: number) => tokens.startsLine(i) || beforeExpression.has(tokens.text(i - 1))

/** The object argument of a table operation: the first argument, or the second of `update`. */
function argument(tokens: Tokens, brace: number, open: number): Literal | undefined {
  const chain = tableChain(chainTo(tokens, open - 1))
  if (chain?.operation === undefined || chain.modifiers.length > 0) return undefined
  const {table, operation} = chain
  const isFirst = brace === open + 1
  switch (operation.name) {
    case 'insert':
      return isFirst ? {of: 'row', table} : undefined
    case 'update':
      return isFirst ? undefined : {of: 'row', table}
    case 'filter':
    case 'where':
      return isFirst ? {of: 'predicate', table, nests: operation.name === 'where'} : undefined
    default:
      return undefined
  }
}

/** The object in `{column: {…}}`, `{column: {member: {…}}}` or `{not: {…}}`. */
function below(tokens: Tokens, key: number, open: number): Literal | undefined {
  const outer = literalAt(tokens, open)
  const name = tokens.text(key)
  if (outer?.of === 'column') return {...outer, path: [...outer.path, name]}
  if (outer?.of !== 'predicate' || !outer.nests) return undefined
  return name === 'not' ? outer : {of: 'column', table: outer.table, path: [name]}
}

/** The objects in `{and: [{…}]}` or `{or: [{…}]}`. */
function part(tokens: Tokens, bracket: number): Literal | undefined {
  const open = tokens.around(bracket)
  const key = tokens.text(bracket - 2)
  if (tokens.text(open) !== '{' || (key !== 'and' && key !== 'or')) return undefined
  const outer = literalAt(tokens, open)
  return outer?.of === 'predicate' && outer.nests ? outer : undefined
}

/** The keys already in the literal. */
export function keysIn(tokens: Tokens, brace: number): Set<string> {
  const keys = new Set<string>()
  for (let i = brace + 1; i < tokens.count; i++)
    if (tokens.around(i) === brace && tokens.text(i) === ':') keys.add(tokens.text(i - 1).replace(/^["']|["']$/g, ''))
  return keys
}
