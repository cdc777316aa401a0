import type {TokenLogProbability} from './log-probabilities.js'

/** The most likely tokens of one position, best first, lower ids first on ties. Their logits are finite. */
export interface TopLogits {
  ids: Uint32Array
  logits: Float32Array
  /** Log-sum-exp of the logits of all tokens. */
  logTotal: number
}

/** The most likely tokens from their ids and logits in any order; tokens with non-finite logits are dropped. */
export function topLogits(ids: ArrayLike<bigint>, logits: ArrayLike<number>, logTotal: number): TopLogits {
  const sorted = {ids: new Uint32Array(logits.length), logits: new Float32Array(logits.length)}
  let count = 0
  for (let i = 0; i < logits.length; i++) {
    const [id, logit] = [Number(ids[i]!), logits[i]!]
    if (!Number.isFinite(logit)) continue
    // They are nearly in order, so that few of them move.
    let at = count++
    for (
      ;
      at > 0 && (sorted.logits[at - 1]! < logit || (sorted.logits[at - 1] === logit && sorted.ids[at - 1]! > id));
      at--
    ) {
      sorted.ids[at] = sorted.ids[at - 1]!
      sorted.logits[at] = sorted.logits[at - 1]!
    }
    sorted.ids[at] = id
    sorted.logits[at] = logit
  }
  return {ids: sorted.ids.subarray(0, count), logits: sorted.logits.subarray(0, count), logTotal}
}

/** Log-probabilities of `token`, which is one of the most likely tokens, and of the `count` most likely ones, best first. */
export function topLogProbabilities(
  {ids, logits, logTotal}: TopLogits,
  token: number,
  count: number,
): {logprob: number; top: TokenLogProbability[]} {
  // Rounding must not make a probability exceed 1.
  const at = (i: number) => Math.min(0, logits[i]! - logTotal)
  const top = Array.from(ids.subarray(0, count), (id, i) => ({token: id, logprob: at(i)}))
  return {logprob: at(ids.indexOf(token)), top}
}
