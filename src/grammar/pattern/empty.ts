import {SvcError} from '../../errors/index.js'
import type {Pattern} from '../grammar.js'
import {byteClasses} from '../lexer/byte-set.js'
import {Continuations} from '../lexer/continuations.js'
import {patternReader} from '../lexer/from-pattern.js'
import {Regexes} from '../lexer/regex.js'

const known = new WeakMap<Pattern, boolean>()

/** True if the pattern certainly matches no text. False may also mean that the search for a text was too long. */
export function isEmptyPattern(pattern: Pattern): boolean {
  if (!hasCondition(pattern)) return pattern.kind === 'either' && pattern.options.length === 0
  const cached = known.get(pattern)
  if (cached !== undefined) return cached
  const isEmpty = search(pattern)
  known.set(pattern, isEmpty)
  return isEmpty
}

function search(pattern: Pattern): boolean {
  const regexes = new Regexes()
  const regex = patternReader(regexes)(pattern)
  const {sets, texts} = regexes.alphabet()
  try {
    return !new Continuations(regexes, byteClasses(sets, texts).bytes).isAlive(regex)
  } catch (error) {
    if (error instanceof SvcError && error.code === 'grammar_limit') return false
    throw error
  }
}

/** Without intersections and complements, only an alternative without options matches nothing. */
function hasCondition(pattern: Pattern): boolean {
  switch (pattern.kind) {
    case 'both':
    case 'not':
      return true
    case 'sequence':
      return pattern.parts.some(hasCondition)
    case 'either':
      return pattern.options.some(hasCondition)
    case 'repeat':
      return hasCondition(pattern.part)
    default:
      return false
  }
}
