import {logSumExp} from '../../sampling/index.js'

/** Output of a CTC model: log-probabilities `[positions, vocabulary]`, row-major. */
export interface Emissions {
  positions: number
  vocabulary: number
  logprobs: Float32Array
}

/** Converts logits of the same shape to log-probabilities. */
export function emissionsOf(logits: Float32Array, vocabulary: number): Emissions {
  const positions = logits.length / vocabulary
  const logprobs = new Float32Array(logits.length)
  for (let t = 0; t < positions; t++) {
    const row = logits.subarray(t * vocabulary, (t + 1) * vocabulary)
    const total = logSumExp(row)
    for (let v = 0; v < vocabulary; v++) logprobs[t * vocabulary + v] = row[v]! - total
  }
  return {positions, vocabulary, logprobs}
}

/** A hypothesis of the text. */
export interface CtcHypothesis {
  tokens: readonly number[]
  /** Log-probability of all paths for the tokens. */
  logprob: number
}

/** Greedy decoding: the best token of each position, without repetitions and blanks. */
export function greedyPath({positions, vocabulary, logprobs}: Emissions, blank: number): CtcHypothesis {
  const tokens: number[] = []
  let logprob = 0
  let before = blank
  for (let t = 0; t < positions; t++) {
    const at = t * vocabulary
    let best = 0
    for (let v = 1; v < vocabulary; v++) if (logprobs[at + v]! > logprobs[at + best]!) best = v
    logprob += logprobs[at + best]!
    if (best !== blank && best !== before) tokens.push(best)
    before = best
  }
  return {tokens, logprob}
}
