import {SvcError} from '../../errors/index.js'
import type {Grammar, Pattern} from '../grammar.js'
import {either, text} from '../pattern/build.js'
import {wholePattern} from '../pattern/ecma.js'

const grammarOf = (pattern: Pattern): Grammar => ({
  start: 'start',
  rules: new Map([['start', {kind: 'lexeme', pattern}]]),
})

/** Replies that a regular expression of ECMA 262 matches as a whole. Throws `pattern_unsupported`. */
export const regexGrammar = (source: string): Grammar => grammarOf(wholePattern(source))

/** Replies that are one of the texts. */
export function choiceGrammar(choices: readonly string[]): Grammar {
  if (choices.length === 0) throw new SvcError('grammar_unsatisfiable', {})
  return grammarOf(either(...choices.map(text)))
}
