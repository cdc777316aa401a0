import type {Grammar} from './grammar.js'
import {Automaton, type State} from './parser/automaton.js'
import {productionsOf} from './parser/from-grammar.js'

/** A grammar that texts can be checked against. */
export interface CompiledGrammar {
  readonly automaton: Automaton
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
export function compileGrammar(grammar: Grammar): CompiledGrammar {
  const automaton = new Automaton(productionsOf(grammar))
  return {automaton, matcher: () => createMatcher(automaton)}
}

function createMatcher(automaton: Automaton): Matcher {
  let state: State = automaton.start
  return {
    accept(bytes) {
      let next: State | null = state
      for (const byte of bytes) {
        next = automaton.step(next, byte)
        if (next === null) return false
      }
      state = next
      return true
    },
    isAccepting: () => state.accepting,
  }
}
