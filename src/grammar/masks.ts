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

/** The tokens that may follow a state, apart from those that end a reply. */
interface Mask {
  /** The sets whose union they are. Those of slices are shared. */
  readonly sets: readonly TokenSet[]
  /** Nodes of the trie that have descendants, at which a text of the grammar ends; only of a nested grammar. */
  readonly ends: Int32Array
}

/** Computes the tokens that may follow, and keeps the answers. */
export class Masks {
  readonly #automaton: Automaton
  readonly #vocabulary: Vocabulary
  readonly #isNested: boolean
  readonly #nested = new Map<Automaton, Masks>()
  #masks = new Map<State, Mask>()
  #slices = new Map<LexerState, Slice>()
  #generation = 0
  #bytes = 0

  constructor(automaton: Automaton, vocabulary: Vocabulary, isNested = false) {
    this.#automaton = automaton
    this.#vocabulary = vocabulary
    this.#isNested = isNested
  }

  /** Approximate memory of the masks that are kept, bytes. */
  get bytes(): number {
    let bytes = this.#bytes
    for (const nested of this.#nested.values()) bytes += nested.bytes
    return bytes
  }

  #of(nested: Automaton): Masks {
    const masks = this.#nested.get(nested) ?? new Masks(nested, this.#vocabulary, true)
    this.#nested.set(nested, masks)
    return masks
  }

  /** @throws grammar_limit, NestedNeeded */
  *of(state: State): Steps<Mask> {
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
    const sets: TokenSet[] = []
    const ends: number[] = []
    const bits = scratch.take()
    for (const {column, state: lexerState} of start.entries) {
      const slice = this.#slices.get(lexerState) ?? (yield* sliceOf(this.#vocabulary, automaton.lexer, lexerState))
      this.#slices.set(lexerState, slice)
      sets.push(slice.tokens)
      for (const {lexemes, nodes} of slice.exits) {
        const ended = automaton.lexer.ended(lexemes.map((i) => lexerState.lexemes[i]!))
        const after = automaton.clamp(automaton.afterLexemes({column, ended}), trie.longest)
        if (this.#isNested && after.accepting) for (const node of nodes) ends.push(node)
        if (!after.isLast) yield* walkBelow({trie, automaton, bits, ends}, after, nodes)
      }
    }
    for (const entry of start.nested) {
      const inner = yield* this.#of(entry.automaton).of(entry.state)
      sets.push(...inner.sets)
      if (inner.ends.length === 0) continue
      const after = automaton.clamp(automaton.afterNested(entry), trie.longest)
      if (!after.isLast) yield* walkBelow({trie, automaton, bits, ends}, after, inner.ends)
    }
    addTwins(trie, bits)
    const spanning = tokenSetOf(bits)
    scratch.release(bits)
    sets.push(spanning)
    const mask = {sets, ends: Int32Array.from(ends)}
    this.#masks.set(start, mask)
    this.#bytes += bytesOfSet(spanning) + mask.ends.byteLength + 200
    return mask
  }
}

interface Walk {
  readonly trie: TokenTrie
  readonly automaton: Automaton
  readonly bits: Uint32Array
  readonly ends: number[]
}

/** Adds the tokens below nodes that a state at these nodes allows, and the nodes at which the text may end. */
function* walkBelow({trie, automaton, bits, ends}: Walk, start: State, nodes: Int32Array): Steps<void> {
  const {byte, depth, end, token} = trie
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
      if (level === top && first[byte[at]!] === 0) {
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
      if (next.accepting && after > at + 1) ends.push(at)
      at = next.isLast ? after : at + 1
    }
    if (visited > nodesPerSlice || automaton.steps - steps > stepsPerSlice) {
      visited = 0
      steps = automaton.steps
      yield
    }
  }
}
