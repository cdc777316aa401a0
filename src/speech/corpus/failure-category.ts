import type {FailureCategory} from '../../contracts/index.js'

/** Failure codes of other parts of the program. */
const foreignCodes: ReadonlyMap<string, FailureCategory> = new Map([
  ['surface_contract', 'syntactic'],
  ['repair_stall', 'orchestration'],
])

/** The categories of the contract `speech-to-code/failure-taxonomy`. */
export const failureCategories: readonly FailureCategory[] = [
  'acoustic',
  'lexical',
  'syntactic',
  'semantic',
  'orchestration',
  'unknown',
]

/** Returns the category of a failure code; a category is its own code. */
export const failureCategoryOf = (code: string): FailureCategory =>
  failureCategories.find((category) => category === code) ?? foreignCodes.get(code) ?? 'unknown'

/** Outcome of a spoken request for code. */
export interface SpokenCodeOutcome {
  compileOk: boolean
  /** Confidence of the transcript, 0 to 1, and the minimum for tools. */
  confidence: number
  minConfidence: number
}

/** Returns why a spoken request led to no valid code; undefined if it did. */
export function spokenCodeFailure(outcome: SpokenCodeOutcome): FailureCategory | undefined {
  if (outcome.compileOk) return undefined
  return outcome.confidence < outcome.minConfidence ? 'acoustic' : 'orchestration'
}
