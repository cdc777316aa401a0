import {SvcError} from '../../errors/index.js'
import type {Pattern} from '../grammar.js'
import {ecmaPattern} from '../pattern/ecma.js'
import type {Subschema} from './document.js'
import {unsupported} from './keywords.js'

const known = new Map<string, Pattern>()
const cacheLimit = 1000

/** The strings in which a regular expression of a keyword finds a match. */
export function patternOf(schema: Subschema, keyword: string, source: string): Pattern {
  const cached = known.get(source)
  if (cached !== undefined) return cached
  try {
    const pattern = ecmaPattern(source)
    if (known.size >= cacheLimit) known.clear()
    known.set(source, pattern)
    return pattern
  } catch (error) {
    if (!(error instanceof SvcError) || error.code !== 'pattern_unsupported') throw error
    const {reason} = error.params as {reason: string}
    throw unsupported(schema, keyword, reason)
  }
}
