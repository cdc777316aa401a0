import type {Judgement} from './judge.js'

/** What one call of the model took. */
interface Call {
  outputTokens: number
  /** When its answer was there, counted from the first call on, ms. */
  atMs: number
}

/** An answer with a program that nothing is wrong with. */
export interface Accepted extends Call {
  kind: 'accepted'
  code: string
  /** Undefined where nobody looked. */
  judgement: Judgement | undefined
}

export type Rejected = Call &
  (
    | {kind: 'surface'; reason: string}
    | {
        kind: 'invalid'
        judgement: Judgement
        /** The program before had the same faults. */
        isStalled: boolean
      }
  )

/** What came of one call of the model. */
export type Attempt = Accepted | Rejected
