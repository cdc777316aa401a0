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

const maxChoices = 10_000
const halves = /\p{Surrogate}/u

/** Replies that are one of the texts. Throws `grammar_unsatisfiable`, `grammar_limit`, `pattern_unsupported`. */
export function choiceGrammar(choices: readonly string[]): Grammar {
  if (choices.length === 0) throw new SvcError('grammar_unsatisfiable', {})
  if (choices.length > maxChoices) throw new SvcError('grammar_limit', {what: 'choices', limit: maxChoices})
  const broken = choices.find((choice) => halves.test(choice))
  if (broken !== undefined) {
    const reason = 'it has half of a surrogate pair'
    throw new SvcError('pattern_unsupported', {pattern: broken.replace(halves, '\ufffd'), reason, column: 1})
  }
  return grammarOf(either(...choices.map(text)))
}
