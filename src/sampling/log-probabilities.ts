import {mostLikely} from './most-likely.js'

export interface TokenLogProbability {
  token: number
  /** Natural logarithm of the probability. */
  logprob: number
}

/**
 * Log-probabilities of one position, from its unmodified logits, `[vocabulary]`: that of `token`, and the `count` most
 * likely ones, best first, the lower id first on ties. A token whose logit is not finite has probability 0.
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

/** Logarithm of the sum of the exponentials of the finite logits; taken from the highest, so that none overflows. */
export function logSumExp(logits: Float32Array): number {
  let highest = -Infinity
  for (let id = 0; id < logits.length; id++) {
    const logit = logits[id]!
    if (logit > highest && logit < Infinity) highest = logit
  }
  let total = 0
  for (let id = 0; id < logits.length; id++) {
    const logit = logits[id]!
    if (Number.isFinite(logit)) total += Math.exp(logit - highest)
  }
  return highest + Math.log(total)
}
