/** Tokens to draw from. Weights are probabilities relative to that of the most likely token, whose weight is 1. */
export interface Candidates {
  ids: Uint32Array
  weights: Float64Array
}

/** The candidates among tokens with finite logits; `temperature` is above 0. */
export function softmax(ids: Uint32Array, logits: Float32Array, temperature: number): Candidates {
  let highest = -Infinity
  for (let i = 0; i < ids.length; i++) highest = Math.max(highest, logits[ids[i]!]!)
  const weights = new Float64Array(ids.length)
  for (let i = 0; i < ids.length; i++) weights[i] = Math.exp((logits[ids[i]!]! - highest) / temperature)
  return {ids, weights}
}

/**
 * The fewest candidates that hold the share `p` of all probability, at least one; the earlier ones on ties: nucleus
 * sampling (arXiv 1904.09751).
 */
export function topP(candidates: Candidates, p: number): Candidates {
  if (p >= 1) return candidates
  const total = sum(candidates.weights)
  // Candidates below this weight hold less than 1 - p together, so the nucleus is among the others: fewer to sort.
  const likely = atLeast(candidates, ((1 - p) * total) / candidates.ids.length)
  // Only the numbers are sorted, which takes no comparison function, to find the weight at which the nucleus ends.
  const ascending = likely.weights.slice().sort()
  let first = ascending.length
  for (let held = 0; first > 0; ) {
    held += ascending[--first]!
    if (held >= p * total) break
  }
  const last = ascending[first]!
  return atLeast(likely, last, ascending.length - first)
}

/** The candidates at least `p` times as likely as the most likely one (arXiv 2407.01082). */
export function minP(candidates: Candidates, p: number): Candidates {
  return p > 0 ? atLeast(candidates, Math.min(p, 1)) : candidates
}

/** One of the candidates, by their weights; `uniform` is in [0, 1). */
export function draw({ids, weights}: Candidates, uniform: number): number {
  const target = uniform * sum(weights)
  // Summed in the order of the total, so that the end is reached, and a weight of 0 is passed over.
  let passed = 0
  let i = 0
  for (; i < ids.length - 1; i++) {
    passed += weights[i]!
    if (target < passed) break
  }
  return ids[i]!
}

function sum(weights: Float64Array): number {
  let total = 0
  for (let i = 0; i < weights.length; i++) total += weights[i]!
  return total
}

/** The candidates of at least this weight; of those with exactly this one, as many as make up `most` in all. */
function atLeast({ids, weights}: Candidates, weight: number, most = ids.length): Candidates {
  let above = 0
  for (let i = 0; i < ids.length; i++) if (weights[i]! > weight) above++
  let ties = most - above
  const kept = {ids: new Uint32Array(ids.length), weights: new Float64Array(ids.length)}
  let count = 0
  for (let i = 0; i < ids.length; i++) {
    if (weights[i]! < weight || (weights[i] === weight && ties-- <= 0)) continue
    kept.ids[count] = ids[i]!
    kept.weights[count++] = weights[i]!
  }
  return {ids: kept.ids.subarray(0, count), weights: kept.weights.subarray(0, count)}
}
