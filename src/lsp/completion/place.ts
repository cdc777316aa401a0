import {builtinNamespaced} from '../../lang/index.js'
import type {Tokens} from '../tokens.js'
import {chainTo, type Link, tableChain} from './chain.js'
import {keysIn, type Literal, literalAt} from './literal.js'
import {holdsFields, holdsParams, isTypePosition} from './type-position.js'
import {
  afterDecorator,
  columnParts,
  deleteActions,
  endpointKinds,
  httpMethods,
  indexDecorators,
  modifierWords,
  partialIndex,
  type Word,
} from './vocabulary.js'

/** The kind of completion at a position. */
export type Place =
  /** A new name, a comment or a string: no completions. */
  | {readonly kind: 'nothing'}
  | {readonly kind: 'decorator' | 'table' | 'type' | 'declaration' | 'expression'}
  | {readonly kind: 'operation'; readonly table: string}
  | {readonly kind: 'modifier'; readonly operation: string; readonly used: readonly string[]}
  | {readonly kind: 'key'; readonly literal: Literal; readonly used: ReadonlySet<string>}
  | {readonly kind: 'column'; readonly table: string}
  /** The continuation of a dotted name such as `std.time.`. */
  | {readonly kind: 'namespace'; readonly path: string}
  | {readonly kind: 'word'; readonly words: readonly Word[]}

const nothing: Place = {kind: 'nothing'}
const oneOf = (words: readonly Word[]): Place => ({kind: 'word', words})

/** Words that precede a new name. */
const namers: ReadonlySet<string> = new Set(['let', 'mut', 'fn', 'type', 'for'])

/**
 * The kind of completion after tokens; `begun` is the partial word at the cursor. Only the text before the cursor is
 * used, because a program being edited rarely parses.
 */
export function placeAfter(tokens: Tokens, begun: string): Place {
  if (begun.startsWith('@')) return insideBrackets(tokens)?.kind === 'word' ? oneOf(columnParts) : {kind: 'decorator'}
  return afterToken(tokens) ?? insideBrackets(tokens) ?? topLevel(tokens) ?? {kind: 'expression'}
}

/** The place, if the last token alone determines it. */
function afterToken(tokens: Tokens): Place | undefined {
  const end = tokens.count
  const last = tokens.text(end - 1)
  if (last === '.') return afterDot(tokens, end - 2)
  if (tokens.is(end - 1, 'decorator')) {
    if (indexDecorators.has(last)) return {kind: 'table'}
    return oneOf(afterDecorator[last] ?? [])
  }
  if (isTypePosition(tokens, end))
    return last === '[' && tokens.text(end - 2) === 'Id' ? {kind: 'table'} : {kind: 'type'}
  if (namers.has(last)) return nothing
  if (last === 'pub') return oneOf([{name: 'fn'}, {name: 'type'}])
  return undefined
}

function afterDot(tokens: Tokens, last: number): Place {
  const links = chainTo(tokens, last)
  if (links === undefined) return nothing
  if (links.length === 1 && links[0]?.name === 'db' && !links[0].called) return {kind: 'table'}
  const chain = tableChain(links)
  if (chain === undefined) return inNamespace(links)
  const {table, operation, modifiers} = chain
  if (operation === undefined) return {kind: 'operation', table}
  if (!operation.called || modifiers.some(({called}) => !called)) return nothing
  return {kind: 'modifier', operation: operation.name, used: modifiers.map(({name}) => name)}
}

function inNamespace(links: readonly Link[]): Place {
  const path = `${links.map(({name}) => name).join('.')}.`
  const isKnown = Object.keys(builtinNamespaced).some((name) => name.startsWith(path))
  return isKnown && links.every(({called}) => !called) ? {kind: 'namespace', path} : nothing
}

/** The place, if the innermost open bracket determines it. */
function insideBrackets(tokens: Tokens): Place | undefined {
  const end = tokens.count
  const open = tokens.around(end)
  const last = tokens.text(end - 1)
  const begins = open === end - 1 || last === ','
  switch (tokens.text(open)) {
    case '{': {
      if (holdsFields(tokens, open)) return tokens.text(open - 3) === '@table' ? afterColumn(tokens) : nothing
      const literal = begins ? literalAt(tokens, open) : undefined
      return literal && {kind: 'key', literal, used: keysIn(tokens, open)}
    }
    case '(':
      if (holdsParams(tokens, open)) return begins ? nothing : undefined
      if (tokens.text(open - 1) === '@endpoint') return last === ':' ? oneOf(endpointKinds) : oneOf([{name: 'kind'}])
      return begins ? inArguments(tokens, open) : undefined
    case '[':
      return tokens.text(open - 1) === '(' && begins ? inArguments(tokens, open - 1) : undefined
    default:
      return undefined
  }
}

/** What can follow the type of a column. */
function afterColumn(tokens: Tokens): Place {
  const end = tokens.count
  const [before, last] = [tokens.text(end - 2), tokens.text(end - 1)]
  if (last === 'on' && before !== ':') return oneOf([{name: 'delete'}])
  if (last === 'delete' && before === 'on') return oneOf(deleteActions)
  const hasType = /[\w\])]$/.test(last) && !/[{,;]/.test(before) && !tokens.startsLine(end - 1)
  return hasType && !tokens.startsLine(end) ? oneOf(columnParts) : nothing
}

/** The columns and words that modifiers and indexes accept. */
function inArguments(tokens: Tokens, open: number): Place | undefined {
  const isFirst = tokens.count === open + 1
  if (tokens.text(open - 1) === 'on' && indexDecorators.has(tokens.text(open - 5)))
    return {kind: 'column', table: tokens.text(open - 4)}
  const chain = tableChain(chainTo(tokens, open - 1))
  const modifier = chain?.modifiers.at(-1)?.name
  if (chain === undefined || modifier === undefined) return undefined
  if (modifier === 'select' || (modifier === 'order_by' && isFirst)) return {kind: 'column', table: chain.table}
  const words = modifierWords[modifier]
  return words && oneOf(words)
}

/** The place outside all brackets. */
function topLevel(tokens: Tokens): Place | undefined {
  const end = tokens.count
  const last = tokens.text(end - 1)
  if (tokens.around(end) !== -1) return undefined
  if (last === 'http') return oneOf(httpMethods)
  if (tokens.startsLine(end) && last !== '=' && last !== '|') return {kind: 'declaration'}
  if (last === ')' && tokens.text((tokens.partner(end - 1) ?? 0) - 1) === 'on')
    return oneOf([{name: 'unique'}, partialIndex])
  if (last === 'unique') return oneOf([partialIndex])
  // A head, which a result type can follow.
  return last === ')' || tokens.is(end - 1, 'string') ? oneOf([{name: 'to'}]) : nothing
}
