import {type Edits, editDistance, totalEdits} from './edit-distance.js'

/** Error rate of a text. */
export interface ErrorRate extends Edits {
  /** Edits per unit of the reference; may exceed 1. It is 1 if the reference is empty and the text is not. */
  rate: number
  /** Number of edits. */
  errors: number
  /** Number of words or characters of the reference. */
  length: number
}

/** Word error rate: words are separated by spaces and compared in lower case, including punctuation. */
const words = (text: string) => text.toLowerCase().split(/\s+/u).filter(Boolean)

const isSymbol = (word: string) => /^[a-z_][a-z0-9_]*$/iu.test(word)

export const wordErrorRate = (reference: string, hypothesis: string): ErrorRate =>
  rateOf(words(reference), words(hypothesis))

/** Character error rate over code points without spaces, case-sensitive. */
export const characterErrorRate = (reference: string, hypothesis: string): ErrorRate =>
  rateOf([...reference.replace(/\s+/gu, '')], [...hypothesis.replace(/\s+/gu, '')])

/** Word error rate over words that could be identifiers. */
export const symbolErrorRate = (reference: string, hypothesis: string): ErrorRate =>
  rateOf(words(reference).filter(isSymbol), words(hypothesis).filter(isSymbol))

function rateOf(reference: readonly string[], hypothesis: readonly string[]): ErrorRate {
  const edits = editDistance(reference, hypothesis)
  const errors = totalEdits(edits)
  return {...edits, errors, length: reference.length, rate: errorShare(errors, reference.length)}
}

/** Errors per unit; any text for an empty reference is an error rate of 1. */
export const errorShare = (errors: number, length: number): number =>
  length === 0 ? Math.min(1, errors) : errors / length
