import {mostLikely} from './most-likely.js'

export interface TokenLogProbability {
  token: number
  /** Natural logarithm of the probability. */
  logprob: number
}

/**
 * Log-probabilities at one position from its unmodified logits, `[vocabulary]`: of `token`, and of the `count` most
 * likely tokens, best first, lower ids first on ties. A token with a non-finite logit has probability 0.
 */
export function logProbabilities(
  logits: Float32Array,
  token: number,
  count: number,
): {logprob: number; top: TokenLogProbability[]} {
  const logTotal = logSumExp(logits)
  const logprob = (id: number) => (Number.isFinite(logits[id]) ? logits[id]! - logTotal : -Infinity)
  const top = Array.from(mostLikely(logits, count), (id) => ({token: id, logprob: logprob(id)}))
  return {logprob: logprob(token), top}
}

/** Log-sum-exp of the finite logits, relative to the maximum so that no exponential overflows. */
export const logSumExp = (logits: Float32Array): number => logSumExpAbove(logits, highest(logits))

/** The largest finite value; -Infinity if there is none. */
export function highest(values: Float32Array): number {
  let max = -Infinity
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!
    if (value > max && value < Infinity) max = value
  }
  return max
}

/** The same if the maximum is known. */
export function logSumExpAbove(logits: Float32Array, max: number): number {
  let total = 0
  for (let id = 0; id < logits.length; id++) {
    const logit = logits[id]!
    if (Number.isFinite(logit)) total += Math.exp(logit - max)
  }
  return max + Math.log(total)
}
