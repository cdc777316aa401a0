import type {Grammar} from './grammar.js'
import {Automaton, NestedNeeded, type State} from './parser/automaton.js'
import {productionsOf} from './parser/from-grammar.js'
import {allSteps, type Steps, stepOf} from './steps.js'

/** A grammar that texts can be checked against. */
export interface CompiledGrammar {
  readonly automaton: Automaton
  /** Approximate memory, bytes. It grows with what texts need, and is dropped when it is too much. */
  readonly bytes: number
  /** A matcher at the start of a text. */
  matcher(): Matcher
}

/** Checks a text against a grammar while it grows. */
export interface Matcher {
  /**
   * Appends UTF-8 bytes, if the text is then the beginning of a text of the grammar. Otherwise nothing changes.
   * @returns whether they were appended
   * @throws grammar_limit
   */
  accept(bytes: Uint8Array): boolean
  /** Whether the text so far is a text of the grammar. */
  isAccepting(): boolean
}

/**
 * Prepares a grammar. The states of its recogniser are created when texts need them.
 * @throws grammar_limit if it is too large; grammar_unsatisfiable if no text matches it
 */
export const compileGrammar = (grammar: Grammar): CompiledGrammar => allSteps(compileInSteps(grammar))

/** Reads a nested grammar, by its name. */
export type ReadNested = (name: string) => Steps<Grammar>

/** `compileGrammar` in steps of a few milliseconds each. Nested grammars are read and compiled when a text reaches them. */
export function* compileInSteps(grammar: Grammar, readNested?: ReadNested): Steps<CompiledGrammar> {
  const automaton = new Automaton(yield* productionsOf(grammar), function* (name) {
    if (readNested === undefined) throw new Error(`Nothing reads the nested grammar "${name}".`)
    return (yield* compileInSteps(yield* readNested(name))).automaton
  })
  return new Compiled(automaton)
}

/**
 * A class: an object literal with a getter has a hidden class of its own. That keeps what the getter uses in memory until the next
 * full garbage collection. The same holds for `Source`.
 */
class Compiled implements CompiledGrammar {
  readonly automaton: Automaton

  constructor(automaton: Automaton) {
    this.automaton = automaton
  }

  get bytes(): number {
    return this.automaton.bytes
  }

  matcher(): Matcher {
    return createMatcher(this.automaton)
  }
}

/** Does work again each time after a nested grammar that it needs has been compiled. */
export function* withNested<T>(work: () => Steps<T>): Steps<T> {
  for (;;)
    try {
      return yield* work()
    } catch (error) {
      if (!(error instanceof NestedNeeded)) throw error
      yield* error.automaton.compile(error.place)
    }
}

/** Does work, unless it needs a nested grammar that has not been compiled. */
export function ifCompiled<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch (error) {
    if (error instanceof NestedNeeded) return undefined
    throw error
  }
}

/** The state after bytes; `null` if one is refused. @throws grammar_limit, NestedNeeded */
export function stateAfter(automaton: Automaton, from: State, bytes: Uint8Array): State | null {
  let state: State | null = from
  for (let i = 0; i < bytes.length && state !== null; i++) state = automaton.step(state, bytes[i]!)
  return state
}

function createMatcher(automaton: Automaton): Matcher {
  let state: State | undefined
  return {
    accept(bytes) {
      const after = () => stateAfter(automaton, state ?? automaton.start, bytes)
      const next = allSteps(withNested(() => stepOf(after)))
      if (next === null) return false
      state = next
      return true
    },
    isAccepting: () => (state ?? automaton.start).accepting,
  }
}
