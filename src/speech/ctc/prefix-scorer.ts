/** What a hypothesis is worth beside its sound, token by token. `S` is how far it has come, and never changes. */
export interface PrefixScorer<S = unknown> {
  readonly start: S
  /** What is added when a hypothesis reads one more token. */
  advance(state: S, token: number): {state: S; score: number}
  /** What is added at the end of the sound. */
  close(state: S): number
}

/** What a whole text is worth. */
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

/** Adds up what two scorers say. */
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
