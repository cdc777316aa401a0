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

/** Adds the scores of two scorers. */
export function bothScorers<A, B>(a: PrefixScorer<A>, b: PrefixScorer<B>): PrefixScorer<readonly [A, B]> {
  return {
    start: [a.start, b.start],
    advance([stateA, stateB], token) {
      const [nextA, nextB] = [a.advance(stateA, token), b.advance(stateB, token)]
      return {state: [nextA.state, nextB.state], score: nextA.score + nextB.score}
    },
    close: ([stateA, stateB]) => a.close(stateA) + b.close(stateB),
  }
}
