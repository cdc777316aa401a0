import type {LexerState} from './lexer/lexer.js'
import type {Automaton, State} from './parser/automaton.js'
import type {Steps} from './steps.js'
import {type Slice, sliceOf, type Vocabulary} from './vocabulary/slices.js'
import {bytesOfSet, type TokenSet, tokenSetOf} from './vocabulary/token-set.js'
import {addTwins, type TokenTrie} from './vocabulary/token-trie.js'

/** Nodes visited between two places at which a mask can be interrupted. */
const nodesPerSlice = 20_000
/** Steps of the recogniser between two such places. */
const stepsPerSlice = 5000

/** Computes the tokens that may follow, and keeps the answers. */
export class Masks {
  readonly #automaton: Automaton
  readonly #vocabulary: Vocabulary
  /** The sets whose union is the mask. Those of slices are shared. */
  #masks = new Map<State, readonly TokenSet[]>()
  #slices = new Map<LexerState, Slice>()
  #generation = 0
  #bytes = 0

  constructor(automaton: Automaton, vocabulary: Vocabulary) {
    this.#automaton = automaton
    this.#vocabulary = vocabulary
  }

  /** Approximate memory of the masks that are kept, bytes. */
  get bytes(): number {
    return this.#bytes
  }

  /** The tokens that may follow a state, apart from those that end a reply. @throws grammar_limit */
  *of(state: State): Steps<readonly TokenSet[]> {
    const automaton = this.#automaton
    if (this.#generation !== automaton.generation) {
      this.#masks = new Map()
      this.#slices = new Map()
      this.#bytes = 0
      this.#generation = automaton.generation
    }
    const start = automaton.clamp(state, this.#vocabulary.trie.longest)
    const known = this.#masks.get(start)
    if (known !== undefined) return known
    const {trie, scratch} = this.#vocabulary
    const mask: TokenSet[] = []
    const bits = scratch.take()
    for (const {column, state: lexerState} of start.entries) {
      const slice = this.#slices.get(lexerState) ?? (yield* sliceOf(this.#vocabulary, automaton.lexer, lexerState))
      this.#slices.set(lexerState, slice)
      mask.push(slice.tokens)
      for (const {lexemes, nodes} of slice.exits) {
        const ended = automaton.lexer.ended(lexemes.map((i) => lexerState.lexemes[i]!))
        const after = automaton.clamp(automaton.afterLexemes({column, ended}), trie.longest)
        if (after.entries.length > 0) yield* walkBelow(trie, automaton, after, nodes, bits)
      }
    }
    addTwins(trie, bits)
    const spanning = tokenSetOf(bits)
    scratch.release(bits)
    mask.push(spanning)
    this.#masks.set(start, mask)
    this.#bytes += bytesOfSet(spanning) + 200
    return mask
  }
}

/** Adds the tokens below nodes that a state at these nodes allows. */
function* walkBelow(
  {byte, depth, end, token}: TokenTrie,
  automaton: Automaton,
  start: State,
  nodes: Int32Array,
  bits: Uint32Array,
): Steps<void> {
  const {of} = automaton.lexer.classes
  const first = automaton.first(start)
  const states: State[] = []
  let visited = 0
  let {steps} = automaton
  for (let i = 0; i < nodes.length; i++) {
    const node = nodes[i]!
    const top = depth[node]! + 1
    const last = end[node]!
    states[top] = start
    for (let at = node + 1; at < last; ) {
      visited++
      const level = depth[at]!
      const after = end[at]!
      if (level === top && first[of[byte[at]!]!] === 0) {
        at = after
        continue
      }
      const next = automaton.step(states[level]!, byte[at]!)
      if (next === null) {
        at = after
        continue
      }
      const own = token[at]!
      if (own >= 0) bits[own >>> 5]! |= 1 << (own & 31)
      states[level + 1] = next
      at = next.entries.length === 0 ? after : at + 1
    }
    if (visited > nodesPerSlice || automaton.steps - steps > stepsPerSlice) {
      visited = 0
      steps = automaton.steps
      yield
    }
  }
}
