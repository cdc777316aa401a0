import type {Diagnostic} from '../lang/index.js'

/** Every declaration of the data language starts with one of these. */
const declaration = /@[a-z]|\b(?:fn|type|http)\b/

/** A construct that is skipped with a warning is not code of the language either. */
const isParseFailure = ({code}: Diagnostic) => code.startsWith('parse.')

/** Penalty of a type error; that of a warning is 1. */
const errorPenalty = 100
/** Reward of a word of the recogniser that is in the candidate, and the maximum of all rewards. */
const wordReward = 3
const maxReward = 120

/**
 * Loads the data language and returns the function that finds the candidate that is a program of it. Of several, it
 * finds the first one with the fewest type errors and warnings. A candidate with the words that were recognised may
 * have more of them.
 */
export async function loadCodeRank(): Promise<(candidates: readonly string[], raw: string) => number | undefined> {
  const {checkProgram} = await import('../lang/index.js')
  return (candidates, raw) => {
    const words = raw.toLowerCase().match(/[\p{L}\p{N}_]{3,}/gu) ?? []
    const penalties = candidates.map((text) => {
      const diagnostics = declaration.test(text) ? checkProgram(text).diagnostics : undefined
      if (diagnostics === undefined || diagnostics.some(isParseFailure)) return Infinity
      const lower = text.toLowerCase()
      const reward = Math.min(maxReward, wordReward * words.filter((word) => lower.includes(word)).length)
      const penalty = diagnostics.reduce((sum, {severity}) => sum + (severity === 'error' ? errorPenalty : 1), 0)
      return Math.max(0, penalty - reward)
    })
    const least = Math.min(...penalties)
    return least === Infinity ? undefined : penalties.indexOf(least)
  }
}
