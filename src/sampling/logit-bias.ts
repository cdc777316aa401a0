import type {LogitsProcessor} from './logits-processor.js'

/** Limits of OpenAI's `logit_bias`: values at or beyond them force or ban a token. */
export const force = 100
export const ban = -100

/**
 * Applies logit biases, which may ban tokens or force one. Of several forced tokens, the one with the highest logit is
 * used, or the lowest id on ties. Ids outside the vocabulary are ignored. Returns undefined if there is no bias.
 */
export function logitBias(bias: Readonly<Record<number, number>>): LogitsProcessor | undefined {
  const entries = Object.entries(bias).flatMap(([id, amount]) => (amount === 0 ? [] : [{id: Number(id), amount}]))
  if (entries.length === 0) return undefined
  // Ascending, because integer keys of an object are always ordered.
  const forced = entries.filter(({amount}) => amount >= force).map(({id}) => id)
  return (logits) => {
    if (forced.some((id) => logits[id] !== undefined)) return keepBest(logits, forced)
    for (const {id, amount} of entries) {
      const logit = logits[id]
      if (logit !== undefined) logits[id] = amount <= ban ? -Infinity : logit + amount
    }
  }
}

/** Bans all tokens but the best of `ids`, so that neither penalties nor sampling can select another one. */
function keepBest(logits: Float32Array, ids: readonly number[]): void {
  let best = -1
  let highest = -Infinity
  for (const id of ids) {
    const logit = logits[id] ?? Number.NaN
    if (logit > highest && logit < Infinity) {
      best = id
      highest = logit
    }
  }
  logits.fill(-Infinity)
  if (best >= 0) logits[best] = highest
}
