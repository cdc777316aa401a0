import {type Edits, editDistance, totalEdits} from './edit-distance.js'

/** How far a text is from what was said. */
export interface ErrorRate extends Edits {
  /** Edits per unit of the reference; 1 where there is no reference but a text. May exceed 1. */
  rate: number
  /** All edits. */
  errors: number
  /** Words or characters of the reference. */
  length: number
}

/** Words between blanks, in lower case; marks are part of them. */
const words = (text: string) => text.toLowerCase().split(/\s+/u).filter(Boolean)

const isSymbol = (word: string) => /^[a-z_][a-z0-9_]*$/iu.test(word)

export const wordErrorRate = (reference: string, hypothesis: string): ErrorRate =>
  rateOf(words(reference), words(hypothesis))

/** Over code points without blanks, capitals as they are. */
export const characterErrorRate = (reference: string, hypothesis: string): ErrorRate =>
  rateOf([...reference.replace(/\s+/gu, '')], [...hypothesis.replace(/\s+/gu, '')])

/** Over the words that could be names in code. */
export const symbolErrorRate = (reference: string, hypothesis: string): ErrorRate =>
  rateOf(words(reference).filter(isSymbol), words(hypothesis).filter(isSymbol))

function rateOf(reference: readonly string[], hypothesis: readonly string[]): ErrorRate {
  const edits = editDistance(reference, hypothesis)
  const errors = totalEdits(edits)
  return {...edits, errors, length: reference.length, rate: errorShare(errors, reference.length)}
}

/** Errors per unit; something where nothing was said is one error per unit. */
export const errorShare = (errors: number, length: number): number =>
  length === 0 ? Math.min(1, errors) : errors / length
