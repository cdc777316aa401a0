/**
 * Scores hypotheses token by token, in addition to their acoustic score. `S` is the state of a hypothesis and is
 * immutable.
 */
export interface PrefixScorer<S = unknown> {
  readonly start: S
  /** Returns the score of one more token. */
  advance(state: S, token: number): {state: S; score: number}
  /** Returns the score of the end of the audio. */
  close(state: S): number
}

/** Returns the score of a complete text. */
export function scoreOf<S>(scorer: PrefixScorer<S>, tokens: readonly number[]): number {
  let state = scorer.start
  let total = 0
  for (const token of tokens) {
    const next = scorer.advance(state, token)
    state = next.state
    total += next.score
  }
  return total + scorer.close(state)
}
