import type {Grammar} from './grammar.js'
import {Automaton, type State} from './parser/automaton.js'
import {productionsOf} from './parser/from-grammar.js'
import {allSteps, type Steps} from './steps.js'

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

/** `compileGrammar` in steps of a few milliseconds each. */
export function* compileInSteps(grammar: Grammar): Steps<CompiledGrammar> {
  const automaton = new Automaton(yield* productionsOf(grammar))
  return {
    automaton,
    matcher: () => createMatcher(automaton),
    get bytes() {
      return automaton.bytes
    },
  }
}

/** The state after bytes; `null` if one is refused. @throws grammar_limit */
export function stateAfter(automaton: Automaton, from: State, bytes: Uint8Array): State | null {
  let state: State | null = from
  for (let i = 0; i < bytes.length && state !== null; i++) state = automaton.step(state, bytes[i]!)
  return state
}

function createMatcher(automaton: Automaton): Matcher {
  let state = automaton.start
  return {
    accept(bytes) {
      const next = stateAfter(automaton, state, bytes)
      if (next === null) return false
      state = next
      return true
    },
    isAccepting: () => state.accepting,
  }
}
