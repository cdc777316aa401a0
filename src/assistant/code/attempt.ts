import type {Judgement} from './judge.js'

/** One call of the model. */
interface Call {
  outputTokens: number
  /** When its answer arrived, in ms since the first call. */
  atMs: number
}

/** An answer with a valid program. */
export interface Accepted extends Call {
  kind: 'accepted'
  code: string
  /** Undefined if the program was not checked. */
  judgement: Judgement | undefined
}

export type Rejected = Call &
  (
    | {kind: 'surface'; reason: string}
    | {
        kind: 'invalid'
        judgement: Judgement
        /** The previous program had the same errors. */
        isStalled: boolean
      }
  )

/** The result of one call of the model. */
export type Attempt = Accepted | Rejected
