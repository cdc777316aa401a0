import type {Emissions} from './emissions.js'

/** Position of a token. */
export interface TokenSpan {
  token: number
  /** First and last position, inclusive. */
  first: number
  last: number
  /** Mean log-probability over these positions. */
  logprob: number
}

/**
 * Finds the most likely path through the emissions for these tokens: Viterbi over tokens with blanks between them.
 * Source: Graves et al. 2006, "Connectionist temporal classification".
 * @returns undefined if there are too few positions for the tokens
 */
export function alignPath(emissions: Emissions, tokens: readonly number[], blank: number): TokenSpan[] | undefined {
  const {positions, vocabulary, logprobs} = emissions
  // Even states are blanks, odd states are tokens.
  const states = 2 * tokens.length + 1
  const tokenOf = (state: number) => (state % 2 === 0 ? blank : (tokens[(state - 1) / 2] as number))
  let scores = new Float64Array(states).fill(-Infinity)
  const steps = new Uint8Array(positions * states)
  for (let t = 0; t < positions; t++) {
    const now = new Float64Array(states).fill(-Infinity)
    for (let s = 0; s < states; s++) {
      const emitted = logprobs[t * vocabulary + tokenOf(s)]!
      if (t === 0) {
        if (s < 2) now[s] = emitted
        continue
      }
      let step = 0
      let best = scores[s]!
      if (s > 0 && scores[s - 1]! > best) {
        step = 1
        best = scores[s - 1]!
      }
      const skips = s % 2 === 1 && s > 2 && tokenOf(s) !== tokenOf(s - 2)
      if (skips && scores[s - 2]! > best) {
        step = 2
        best = scores[s - 2]!
      }
      steps[t * states + s] = step
      now[s] = best + emitted
    }
    scores = now
  }
  const end = states > 1 && scores[states - 2]! > scores[states - 1]! ? states - 2 : states - 1
  if (tokens.length === 0 || scores[end] === -Infinity) return tokens.length === 0 ? [] : undefined
  return spansOf(emissions, tokens, steps, states, end)
}

function spansOf(
  {positions, vocabulary, logprobs}: Emissions,
  tokens: readonly number[],
  steps: Uint8Array,
  states: number,
  end: number,
): TokenSpan[] {
  const spans: (TokenSpan & {positions: number})[] = tokens.map((token) => ({
    token,
    first: positions,
    last: -1,
    logprob: 0,
    positions: 0,
  }))
  for (let t = positions - 1, s = end; t >= 0; s -= steps[t * states + s]!, t--) {
    const span = s % 2 === 1 ? spans[(s - 1) / 2] : undefined
    if (span === undefined) continue
    span.first = t
    span.last = Math.max(span.last, t)
    span.logprob += logprobs[t * vocabulary + span.token]!
    span.positions++
  }
  return spans.map(({positions: count, logprob, ...span}) => ({...span, logprob: logprob / count}))
}
