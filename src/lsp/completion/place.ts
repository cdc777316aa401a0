import {builtinNamespaced} from '../../lang/index.js'
import type {Tokens} from '../tokens.js'
import {chainTo, type Link, tableChain} from './chain.js'
import {keysIn, type Literal, literalAt} from './literal.js'
import {holdsFields, holdsParams, isTypePosition} from './type-position.js'
import {afterDecorator, endpointKinds, httpMethods, indexDecorators, modifierWords, type Word} from './vocabulary.js'

/** What may be written at a place. */
export type Place =
  /** A new name, a comment, a text: nothing that could be proposed. */
  | {readonly kind: 'nothing'}
  | {readonly kind: 'decorator' | 'table' | 'type' | 'declaration' | 'expression'}
  | {readonly kind: 'operation'; readonly table: string}
  | {readonly kind: 'modifier'; readonly operation: string; readonly given: readonly string[]}
  | {readonly kind: 'key'; readonly literal: Literal; readonly given: ReadonlySet<string>}
  | {readonly kind: 'column'; readonly table: string}
  /** The end of a name with dots: `std.time.`, as far as it is there. */
  | {readonly kind: 'namespace'; readonly path: string}
  | {readonly kind: 'word'; readonly words: readonly Word[]}

const nothing: Place = {kind: 'nothing'}
const oneOf = (words: readonly Word[]): Place => ({kind: 'word', words})

/** Behind these somebody makes a name up. */
const namers: ReadonlySet<string> = new Set(['let', 'mut', 'fn', 'type', 'for'])

/**
 * What may be written behind tokens, of which the last may be begun already. Only what stands before counts, since a
 * program that somebody is writing rarely has a tree.
 */
export function placeBehind(tokens: Tokens, begun: string): Place {
  if (begun.startsWith('@')) return {kind: 'decorator'}
  return afterToken(tokens) ?? insideBrackets(tokens) ?? topLevel(tokens) ?? {kind: 'expression'}
}

/** What the last token alone decides. */
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
  return {kind: 'modifier', operation: operation.name, given: modifiers.map(({name}) => name)}
}

function inNamespace(links: readonly Link[]): Place {
  const path = `${links.map(({name}) => name).join('.')}.`
  const isKnown = Object.keys(builtinNamespaced).some((name) => name.startsWith(path))
  return isKnown && links.every(({called}) => !called) ? {kind: 'namespace', path} : nothing
}

/** What the innermost bracket that is open decides. */
function insideBrackets(tokens: Tokens): Place | undefined {
  const end = tokens.count
  const open = tokens.around(end)
  const last = tokens.text(end - 1)
  const begins = open === end - 1 || last === ','
  switch (tokens.text(open)) {
    case '{': {
      if (holdsFields(tokens, open)) return nothing
      const literal = begins ? literalAt(tokens, open) : undefined
      return literal && {kind: 'key', literal, given: keysIn(tokens, open)}
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

/** The columns and the words that modifiers and indexes take. */
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

/** Outside of all brackets. */
function topLevel(tokens: Tokens): Place | undefined {
  const end = tokens.count
  const last = tokens.text(end - 1)
  if (tokens.around(end) !== -1) return undefined
  if (last === 'http') return oneOf(httpMethods)
  if (tokens.startsLine(end) && last !== '=' && last !== '|') return {kind: 'declaration'}
  if (last === ')' && tokens.text((tokens.partner(end - 1) ?? 0) - 1) === 'on') return oneOf([{name: 'unique'}])
  // A head, of which the result may follow.
  return last === ')' || tokens.is(end - 1, 'string') ? oneOf([{name: 'to'}]) : nothing
}
