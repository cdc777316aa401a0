import type {Task} from '../../tasks/index.js'
import {wordsOf} from './clauses.js'
import {asksForChange} from './files.js'

/** Complexity of a text, 1 to 10, estimated from its number of words. */
export function complexityOf(text: string): number {
  const words = wordsOf(text).length
  return (complexities.find(([max]) => words <= max) ?? [0, 9])[1]
}

const complexities: readonly (readonly [maxWords: number, complexity: number])[] = [
  [6, 2],
  [16, 5],
  [30, 7],
]

/** The first match is the category of a step. */
const kinds: readonly (readonly [Task['category'], RegExp])[] = [
  ['testing', /\b(?:tests?|testing|verify|validate|validation|regressions?)\b/i],
  ['debugging', /\b(?:fix|debug|bugs?|crash|crashes|reproduce)\b/i],
  ['review', /\b(?:review|audit)\b/i],
  ['research', /\b(?:research|investigate|explore|compare|evaluate|find out)\b/i],
]

export function categoryOf(text: string): Task['category'] {
  const [found] = kinds.find(([, words]) => words.test(text)) ?? []
  return found ?? (asksForChange(text) ? 'codegen' : 'general')
}
