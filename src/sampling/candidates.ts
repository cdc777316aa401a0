/** Tokens to draw from. Weights are probabilities relative to the most likely token, whose weight is 1. */
export interface Candidates {
  ids: Uint32Array
  weights: Float64Array
}

/** Candidates from tokens and their logits, which must be finite; `temperature` must be above 0. */
export function softmax(ids: Uint32Array, logits: Float32Array, temperature: number): Candidates {
  let highest = -Infinity
  for (let i = 0; i < ids.length; i++) highest = Math.max(highest, logits[i]!)
  const weights = new Float64Array(ids.length)
  for (let i = 0; i < ids.length; i++) weights[i] = Math.exp((logits[i]! - highest) / temperature)
  return {ids, weights}
}

/**
 * Nucleus sampling (arXiv 1904.09751): the smallest set of candidates with a total probability of at least `p`, never
 * empty; earlier candidates first on ties.
 */
export function topP(candidates: Candidates, p: number): Candidates {
  if (p >= 1) return candidates
  const total = sum(candidates.weights)
  // Candidates below this weight have a total probability below 1 - p, so the nucleus is among the others.
  const likely = atLeast(candidates, ((1 - p) * total) / candidates.ids.length)
  // Sorting plain numbers needs no comparison function; the result is the smallest weight in the nucleus.
  const ascending = likely.weights.slice().sort()
  let first = ascending.length
  for (let covered = 0; first > 0; ) {
    covered += ascending[--first]!
    if (covered >= p * total) break
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
  // Summing in the same order as the total guarantees that the target is reached, and never at a weight of 0.
  let cumulative = 0
  let i = 0
  for (; i < ids.length - 1; i++) {
    cumulative += weights[i]!
    if (target < cumulative) break
  }
  return ids[i]!
}

function sum(weights: Float64Array): number {
  let total = 0
  for (let i = 0; i < weights.length; i++) total += weights[i]!
  return total
}

/** The candidates of at least this weight; ties at exactly this weight are dropped beyond `limit` candidates in total. */
function atLeast({ids, weights}: Candidates, weight: number, limit = ids.length): Candidates {
  let above = 0
  for (let i = 0; i < ids.length; i++) if (weights[i]! > weight) above++
  let ties = limit - above
  const selected = {ids: new Uint32Array(ids.length), weights: new Float64Array(ids.length)}
  let count = 0
  for (let i = 0; i < ids.length; i++) {
    if (weights[i]! < weight || (weights[i] === weight && ties-- <= 0)) continue
    selected.ids[count] = ids[i]!
    selected.weights[count++] = weights[i]!
  }
  return {ids: selected.ids.subarray(0, count), weights: selected.weights.subarray(0, count)}
}
