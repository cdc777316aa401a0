import type {Lexer, LexerState} from '../lexer/lexer.js'
import type {Regex} from '../lexer/regex.js'
import {structureOf} from '../lexer/structure.js'
import {LruCache} from '../lru-cache.js'
import type {Steps} from '../steps.js'
import {addRepetitions, bytesOfLoop, type Loop, loopOf} from './loops.js'
import {bytesOfSet, maskWords, Scratch, type TokenSet, tokenSetOf} from './token-set.js'
import {addTwins, bytesOfNode, type TokenTrie} from './token-trie.js'

/** The tokens that a lexer state allows, and the nodes of the trie at which lexemes end. */
export interface Slice {
  /** Tokens that continue or end its lexemes, as far as the lexer knows. */
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

/** A vocabulary with what its grammars share. */
export interface Vocabulary {
  readonly trie: TokenTrie
  /** Number of words of a mask. */
  readonly words: number
  readonly scratch: Scratch
  readonly slices: LruCache<Slice>
  readonly loops: LruCache<Loop | 'none'>
}

/**
 * Prepares a vocabulary for masks.
 * @param sharedBytes maximum memory of the masks that grammars share
 */
export const createVocabulary = (trie: TokenTrie, {sharedBytes = 64 << 20} = {}): Vocabulary => ({
  trie,
  words: maskWords(trie.size),
  scratch: new Scratch(maskWords(trie.size)),
  slices: new LruCache(sharedBytes / 2),
  loops: new LruCache(sharedBytes / 2),
})

/** Approximate memory of a slice. */
const bytesOfSlice = ({tokens, exits}: Slice): number =>
  exits.reduce((sum, {nodes}) => sum + nodes.byteLength + 100, bytesOfSet(tokens) + 200)

/**
 * Computes the slice of a state, or finds that of the same expressions in another grammar.
 * @param state with counts beyond the longest token
 */
export function* sliceOf(vocabulary: Vocabulary, lexer: Lexer, state: LexerState): Steps<Slice> {
  const {slices, scratch} = vocabulary
  const key = structureOf(lexer.regexes, state.rests)
  const known = slices.get(key)
  if (known !== undefined) return known
  const walk = new Walk(vocabulary.trie, lexer, scratch.take())
  const others: number[] = []
  for (const [i, rest] of state.rests.entries()) {
    const repeated = repeatedIn(rest)
    const loop = repeated === undefined ? undefined : yield* sharedLoop(vocabulary, lexer, repeated)
    if (loop !== undefined) yield* walk.leave(loop, repeated!, state.lexemes[i]!)
    else others.push(i)
  }
  const isWhole = others.length === state.lexemes.length
  const rest = isWhole ? state : lexer.part(state, others)
  if (others.length > 0) yield* walk.through(rest)
  addTwins(vocabulary.trie, walk.bits)
  const indexes = new Map(state.lexemes.map((lexeme, i) => [lexeme, i]))
  const slice = {
    tokens: tokenSetOf(walk.bits),
    exits: [...walk.exits.values()].map(({lexemes, nodes}) => ({
      lexemes: lexemes.map((lexeme) => indexes.get(lexeme)!),
      nodes: Int32Array.from(nodes),
    })),
  }
  slices.set(key, slice, bytesOfSlice(slice))
  scratch.release(walk.bits)
  return slice
}

/** A repetition, and what follows it. */
interface Repeated {
  readonly rest: Regex
  readonly repeat: Regex & {kind: 'repeat'}
  readonly tail: Regex
}

function repeatedIn(rest: Regex): Repeated | undefined {
  if (rest.kind !== 'sequence' || rest.tail.nullable) return undefined
  const repeat = rest.head.kind === 'both' ? exceptWords(rest.head.parts) : rest.head
  return repeat?.kind === 'repeat' ? {rest, repeat, tail: rest.tail} : undefined
}

/** The repetition without an end from which words are excluded: another repetition may follow each of its beginnings. */
function exceptWords(parts: readonly Regex[]): Regex | undefined {
  const [repeat, ...others] = parts.filter((part) => part.kind !== 'not' || !hasEnd(part.part))
  const isEndless = repeat?.kind === 'repeat' && repeat.max === Number.POSITIVE_INFINITY
  return isEndless && others.length === 0 ? repeat : undefined
}

/** Whether an expression is known to match finitely many texts. */
function hasEnd(regex: Regex): boolean {
  if (regex.kind === 'sequence') return hasEnd(regex.head) && hasEnd(regex.tail)
  if (regex.kind === 'either') return regex.options.every(hasEnd)
  if (regex.kind === 'repeat') return regex.max !== Number.POSITIVE_INFINITY && hasEnd(regex.part)
  return regex.kind === 'text' || regex.kind === 'byte' || regex.kind === 'empty'
}

/** The loop of a repetition, unless the bytes cannot distinguish a further repetition from what follows. */
function* sharedLoop(
  {trie, words, loops}: Vocabulary,
  lexer: Lexer,
  {repeat: {part}, tail}: Repeated,
): Steps<Loop | undefined> {
  const key = structureOf(lexer.regexes, [part])
  let loop = loops.get(key)
  if (loop === undefined) {
    loop = (yield* loopOf(trie, lexer, part, words)) ?? 'none'
    loops.set(key, loop, loop === 'none' ? 0 : bytesOfLoop(loop))
  }
  if (loop === 'none') return undefined
  const {of, bytes} = lexer.classes
  const isAmbiguous = loop.first.some(
    (begins, byte) => begins === 1 && lexer.regexes.derivative(tail, bytes[of[byte]!]!) !== lexer.regexes.nothing,
  )
  return isAmbiguous ? undefined : loop
}

/** Walks a trie with a lexer, and collects the tokens and the nodes at which lexemes end. */
class Walk {
  readonly #trie: TokenTrie
  readonly #lexer: Lexer
  readonly #states: LexerState[]
  readonly bits: Uint32Array
  /** By the id of `Ended`. */
  readonly exits = new Map<number, {lexemes: readonly number[]; nodes: number[]}>()

  /** @param bits none of them set */
  constructor(trie: TokenTrie, lexer: Lexer, bits: Uint32Array) {
    this.#trie = trie
    this.#lexer = lexer
    this.#states = new Array(trie.longest + 1)
    this.bits = bits
  }

  *through(state: LexerState): Steps<void> {
    this.#states[0] = state
    const {length} = this.#trie.byte
    for (let at = this.#walk(0, length); at < length; at = this.#walk(at, length)) yield
  }

  /** Walks repetitions and, from the nodes that leave them, what follows. */
  *leave(loop: Loop, {rest, repeat: {min, max}, tail}: Repeated, lexeme: number): Steps<void> {
    addRepetitions(loop, max, this.bits)
    const {byte, depth, end} = this.#trie
    const {of} = this.#lexer.classes
    const whole = this.#lexer.state([lexeme], [rest])
    const following = this.#lexer.state([lexeme], [tail])
    for (let i = 0; i < loop.leaving.length; i++) {
      const count = loop.repetitions[i]!
      const node = loop.leaving[i]!
      if (count < min || count > max) continue
      if (this.#lexer.step(following, of[byte[node]!]!) === null) continue
      const state = rest.plain ? following : this.#before(node, whole)
      if (state === null) continue
      this.#states[depth[node]!] = state
      const last = end[node]!
      for (let at = this.#walk(node, last); at < last; at = this.#walk(at, last)) yield
    }
  }

  /** The state before the last byte of a node. */
  #before(node: number, start: LexerState): LexerState | null {
    const bytes = bytesOfNode(this.#trie, node)
    const {of} = this.#lexer.classes
    let state: LexerState | null = start
    for (let i = 0; i < bytes.length - 1 && state !== null; i++) state = this.#lexer.step(state, of[bytes[i]!]!)
    return state
  }

  /** @returns the node at which the walk continues */
  #walk(from: number, to: number): number {
    const {byte, depth, end, token} = this.#trie
    const [states, lexer, bits] = [this.#states, this.#lexer, this.bits]
    const {of} = lexer.classes
    const maxSteps = lexer.steps + derivativesPerSlice
    const last = Math.min(to, from + nodesPerSlice)
    let at = from
    while (at < last) {
      const level = depth[at]!
      const state = states[level]!
      const byteClass = of[byte[at]!]!
      let next = state.next?.[byteClass]
      if (next === undefined) {
        if (lexer.steps > maxSteps) break
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
        const known = this.exits.get(next.ended.id)
        if (known === undefined) this.exits.set(next.ended.id, {lexemes: next.ended.lexemes, nodes: [at]})
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
}
