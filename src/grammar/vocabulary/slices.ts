import {structureOf} from '../lexer/clamp.js'
import type {Lexer, LexerState} from '../lexer/lexer.js'
import {bytesOfSet, maskWords, type TokenSet, tokenSetOf} from './token-set.js'
import type {TokenTrie} from './token-trie.js'

/** The tokens that a lexer state allows, and the nodes of the trie at which lexemes end. */
export interface Slice {
  /** Tokens that continue or end its lexemes, as far as the lexer can tell. */
  readonly tokens: TokenSet
  /** Nodes that have descendants, by the lexemes that end there. */
  readonly exits: readonly Exits[]
}

interface Exits {
  /** Indexes of the lexemes that end, within those of the state. */
  readonly lexemes: readonly number[]
  readonly nodes: Int32Array
}

/** Nodes of a trie between two places at which a walk can be interrupted. */
const nodesPerSlice = 50_000
/** Derivatives between two such places. */
const derivativesPerSlice = 5000

/** A vocabulary with the slices that its grammars share. */
export interface Vocabulary {
  readonly trie: TokenTrie
  /** Number of words of a mask. */
  readonly words: number
  readonly slices: SharedSlices
}

/**
 * Prepares a vocabulary for masks.
 * @param sharedBytes maximum memory of what grammars share
 */
export const createVocabulary = (trie: TokenTrie, {sharedBytes = 64 << 20} = {}): Vocabulary => ({
  trie,
  words: maskWords(trie.size),
  slices: new SharedSlices(sharedBytes),
})

/** Slices by the structure of the expressions, the least recently used first. */
export class SharedSlices {
  readonly #slices = new Map<string, Slice>()
  readonly #most: number
  bytes = 0

  constructor(most: number) {
    this.#most = most
  }

  get(key: string): Slice | undefined {
    const slice = this.#slices.get(key)
    if (slice === undefined) return undefined
    this.#slices.delete(key)
    this.#slices.set(key, slice)
    return slice
  }

  add(key: string, slice: Slice): void {
    this.#slices.set(key, slice)
    this.bytes += bytesOfSlice(slice)
    for (const [oldest, each] of this.#slices) {
      if (this.bytes <= this.#most) break
      this.#slices.delete(oldest)
      this.bytes -= bytesOfSlice(each)
    }
  }
}

/** Approximate memory of a slice. */
export const bytesOfSlice = ({tokens, exits}: Slice): number =>
  exits.reduce((sum, {nodes}) => sum + nodes.byteLength + 100, bytesOfSet(tokens) + 200)

/**
 * Computes the slice of a state, or finds that of the same expressions in another grammar.
 * @param state with counts beyond the longest token
 */
export function* sliceOf({trie, slices, words}: Vocabulary, lexer: Lexer, state: LexerState): Generator<void, Slice> {
  const key = structureOf(state.rests)
  const known = key === undefined ? undefined : slices.get(key)
  if (known !== undefined) return known
  const bits = new Uint32Array(words)
  const exits = yield* walk(trie, lexer, state, bits)
  const indexes = new Map(state.lexemes.map((lexeme, i) => [lexeme, i]))
  const slice = {
    tokens: tokenSetOf(bits),
    exits: [...exits.values()].map(({lexemes, nodes}) => ({
      lexemes: lexemes.map((lexeme) => indexes.get(lexeme)!),
      nodes: Int32Array.from(nodes),
    })),
  }
  if (key !== undefined) slices.add(key, slice)
  return slice
}

type Found = Map<number, {lexemes: readonly number[]; nodes: number[]}>

/** Walks the trie with the lexer. @returns the nodes at which lexemes end, by the id of `Ended` */
function* walk(trie: TokenTrie, lexer: Lexer, start: LexerState, bits: Uint32Array): Generator<void, Found> {
  const states: LexerState[] = new Array(trie.longest + 1)
  states[0] = start
  const exits: Found = new Map()
  for (let at = 0; at < trie.byte.length; ) {
    at = walkPart(trie, lexer, states, at, bits, exits)
    yield
  }
  return exits
}

/** @returns the node at which the walk continues */
function walkPart(
  {byte, depth, end, token}: TokenTrie,
  lexer: Lexer,
  states: LexerState[],
  from: number,
  bits: Uint32Array,
  exits: Found,
): number {
  const {of} = lexer.classes
  const mostSteps = lexer.steps + derivativesPerSlice
  const last = Math.min(byte.length, from + nodesPerSlice)
  let at = from
  while (at < last) {
    const level = depth[at]!
    const state = states[level]!
    const byteClass = of[byte[at]!]!
    let next = state.next?.[byteClass]
    if (next === undefined) {
      if (lexer.steps > mostSteps) break
      next = lexer.step(state, byteClass)
    }
    if (next === null) {
      at = end[at]!
      continue
    }
    const own = token[at]!
    if (own >= 0) bits[own >>> 5]! |= 1 << (own & 31)
    const after = end[at]!
    if (next.ended !== undefined && after > at + 1) {
      const known = exits.get(next.ended.id)
      if (known === undefined) exits.set(next.ended.id, {lexemes: next.ended.lexemes, nodes: [at]})
      else known.nodes.push(at)
    }
    if (next.lexemes.length === 0) at = after
    else {
      states[level + 1] = next
      at++
    }
  }
  return at
}
