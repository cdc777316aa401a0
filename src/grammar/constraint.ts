import {type CompiledGrammar, ifCompiled, stateAfter, withNested} from './compile.js'
import {forcedBytes, forcedTokens} from './forced.js'
import {Masks} from './masks.js'
import type {State} from './parser/automaton.js'
import {allSteps, type Steps, stepOf} from './steps.js'
import type {Vocabulary} from './vocabulary/slices.js'
import {addTokens} from './vocabulary/token-set.js'
import {bytesOfToken} from './vocabulary/token-trie.js'

/** Memory of a grammar beyond which it forgets states and masks, bytes. */
const maxBytes = 16 << 20

/** A grammar for the tokens of one vocabulary. */
export interface ConstraintSource {
  /** Approximate memory, without what the grammars of the vocabulary share, bytes. */
  readonly bytes: number
  /** A constraint at the start of a reply. */
  start(): Constraint
}

/** @param ends tokens that end a reply */
export function createConstraintSource(
  grammar: CompiledGrammar,
  vocabulary: Vocabulary,
  ends: readonly number[],
): ConstraintSource {
  return new Source({grammar, vocabulary, ends, masks: new Masks(grammar.automaton, vocabulary)})
}

class Source implements ConstraintSource {
  readonly #context: Context

  constructor(context: Context) {
    this.#context = context
  }

  get bytes(): number {
    const {grammar, masks} = this.#context
    return grammar.bytes + masks.bytes
  }

  start(): Constraint {
    return new Constraint(this.#context)
  }
}

interface Context {
  readonly grammar: CompiledGrammar
  readonly vocabulary: Vocabulary
  readonly ends: readonly number[]
  readonly masks: Masks
}

/** The place of a reply in a grammar. */
export class Constraint {
  readonly #context: Context
  /** Undefined at the start. */
  #known: State | undefined
  #hasEnded: boolean

  /** Created by a `ConstraintSource` and by `copy`. */
  constructor(context: Context, state?: State, hasEnded = false) {
    this.#context = context
    this.#known = state
    this.#hasEnded = hasEnded
  }

  /** @throws NestedNeeded */
  get #state(): State {
    return this.#known ?? this.#context.grammar.automaton.start
  }

  /**
   * Writes which tokens may follow: those after which the reply can be completed. Tokens that end a reply may follow a
   * complete one.
   * @param into a bit per token, the first in the lowest bit; overwritten
   * @throws grammar_limit
   */
  mask(into: Uint32Array): void {
    allSteps(this.maskInSteps(into))
  }

  /** `mask` in steps of a few milliseconds each. Other calls are possible between them, but not `accept`. */
  *maskInSteps(into: Uint32Array): Steps<void> {
    const {masks, ends, grammar} = this.#context
    into.fill(0)
    if (this.#hasEnded) return
    if (grammar.bytes + masks.bytes > maxBytes) grammar.automaton.forget()
    const {sets} = yield* withNested(() => masks.of(this.#state))
    for (const tokens of sets) addTokens(tokens, into)
    if (this.#state.accepting) for (const end of ends) into[end >>> 5]! |= 1 << (end & 31)
  }

  /**
   * Appends a token if it may follow; otherwise nothing changes.
   * @returns whether it was appended
   * @throws grammar_limit
   */
  accept(token: number): boolean {
    return allSteps(withNested(() => stepOf(() => this.#accept(token))))
  }

  /** `accept`, but refuses a token that needs a nested grammar that has not been compiled. */
  acceptCompiled(token: number): boolean {
    return ifCompiled(() => this.#accept(token)) ?? false
  }

  #accept(token: number): boolean {
    const {ends, grammar, vocabulary} = this.#context
    if (this.#hasEnded) return false
    if (ends.includes(token)) {
      this.#hasEnded = this.#state.accepting
      return this.#hasEnded
    }
    const bytes = bytesOfToken(vocabulary.trie, token)
    const next = bytes.length === 0 ? null : stateAfter(grammar.automaton, this.#state, bytes)
    if (next === null) return false
    this.#known = next
    return true
  }

  /** Whether the reply matches the grammar, so that it may end here. */
  isAccepting(): boolean {
    return this.#state.accepting
  }

  /** Whether nothing but the end of the reply may follow. */
  isComplete(): boolean {
    return this.#hasEnded || (this.#state.accepting && this.#state.isLast)
  }

  /** The longest text with which every continuation begins, as UTF-8 bytes, up to a limit. @throws grammar_limit */
  forcedBytes(): Uint8Array {
    return this.#hasEnded ? new Uint8Array() : forcedBytes(this.#context.grammar.automaton, this.#state)
  }

  /**
   * The tokens of that text, as far as the tokenizer would produce them whatever follows.
   * @param encode the tokens of a text without special ones
   * @returns undefined if they depend on a nested grammar that has not been compiled
   * @throws grammar_limit
   */
  forcedTokens(encode: (text: string) => readonly number[]): number[] | undefined {
    return ifCompiled(() => this.#forced(encode))
  }

  /** `forcedTokens` in steps; compiles what it needs. */
  forcedInSteps(encode: (text: string) => readonly number[]): Steps<number[]> {
    return withNested(() => stepOf(() => this.#forced(encode)))
  }

  #forced(encode: (text: string) => readonly number[]): number[] {
    const {grammar, vocabulary} = this.#context
    return this.#hasEnded ? [] : forcedTokens(grammar.automaton, this.#state, vocabulary.trie, encode)
  }

  /** A constraint at the same place that changes independently. */
  copy(): Constraint {
    return new Constraint(this.#context, this.#known, this.#hasEnded)
  }
}
