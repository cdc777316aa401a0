import type {LogitsProcessor} from './logits-processor.js'

/** The ends of the range of OpenAI's `logit_bias`, from which on a token is the only choice, or none. */
const force = 100
export const ban = -100

/**
 * Adds to the logits of single tokens, bans some or forces one: of several forced tokens the one with the highest
 * logit, the lowest id on ties. Ids outside the vocabulary are ignored. Undefined when there is nothing to add.
 */
export function logitBias(bias: Readonly<Record<number, number>>): LogitsProcessor | undefined {
  const entries = Object.entries(bias).flatMap(([id, amount]) => (amount === 0 ? [] : [{id: Number(id), amount}]))
  if (entries.length === 0) return undefined
  // In ascending order, as the integer keys of an object always are.
  const forced = entries.filter(({amount}) => amount >= force).map(({id}) => id)
  return (logits) => {
    if (forced.some((id) => logits[id] !== undefined)) return keepBest(logits, forced)
    for (const {id, amount} of entries) {
      const logit = logits[id]
      if (logit !== undefined) logits[id] = amount <= ban ? -Infinity : logit + amount
    }
  }
}

/** Takes every other token out, so that no penalty and no draw can undo the choice. */
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
