import {randomSource} from './random.js'

export interface SamplingOptions {
  /** 0 takes the most likely token, always. */
  temperature: number
  /** Sample from this many of the most likely tokens; 0 from all. */
  topK: number
  /** Sample from the fewest tokens whose probabilities add up to this. */
  topP: number
  /** 32-bit seed. */
  seed: number
}

/** Chooses a token from the logits of one position, `[vocabulary]`; the logits are left as they are. */
export type Sampler = (logits: Float32Array) => number

/**
 * Greedy at temperature 0, else top-k, temperature, softmax, top-p and a draw, in this order. The same options and
 * logits give the same tokens.
 */
export function createSampler({temperature, topK, topP, seed}: SamplingOptions): Sampler {
  if (temperature === 0) return argmax
  const random = randomSource(seed)
  return (logits) => {
    const candidates = mostLikely(logits, topK === 0 ? logits.length : topK)
    const weights = softmax(candidates, logits, temperature)
    return draw(candidates, nucleus(weights, topP), random())
  }
}

/** The lowest id on ties. */
function argmax(logits: Float32Array): number {
  let best = 0
  for (let i = 1; i < logits.length; i++) if ((logits[i] as number) > (logits[best] as number)) best = i
  return best
}

/** Ids of the k largest logits, largest first; the lower id first on ties. */
function mostLikely(logits: Float32Array, k: number): Uint32Array {
  const before = (a: number, b: number) => (logits[b] as number) - (logits[a] as number) || a - b
  if (k >= logits.length) return Uint32Array.from(logits.keys()).sort(before)
  // A heap with the worst of the k at its root: most of the vocabulary is refused by one comparison.
  const heap = Uint32Array.from({length: k}, (_, i) => i)
  const worse = (a: number, b: number) => before(heap[a] as number, heap[b] as number) > 0
  const sink = (start: number) => {
    for (let at = start; ; ) {
      let worst = at
      for (const child of [2 * at + 1, 2 * at + 2]) if (child < k && worse(child, worst)) worst = child
      if (worst === at) return
      const moved = heap[at] as number
      heap[at] = heap[worst] as number
      heap[worst] = moved
      at = worst
    }
  }
  for (let i = (k >> 1) - 1; i >= 0; i--) sink(i)
  for (let id = k; id < logits.length; id++) {
    if ((logits[id] as number) <= (logits[heap[0] as number] as number)) continue
    heap[0] = id
    sink(0)
  }
  return heap.sort(before)
}

/** Probabilities of the candidates, which are sorted by logit. */
function softmax(candidates: Uint32Array, logits: Float32Array, temperature: number): Float64Array {
  const highest = logits[candidates[0] as number] as number
  const weights = Float64Array.from(candidates, (id) => Math.exp(((logits[id] as number) - highest) / temperature))
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  return weights.map((weight) => weight / total)
}

/** The head of the probabilities that adds up to `topP`: at least one. */
function nucleus(probabilities: Float64Array, topP: number): Float64Array {
  if (topP >= 1) return probabilities
  let sum = 0
  const end = probabilities.findIndex((probability) => {
    sum += probability
    return sum >= topP
  })
  return end === -1 ? probabilities : probabilities.subarray(0, end + 1)
}

function draw(candidates: Uint32Array, probabilities: Float64Array, uniform: number): number {
  let left = uniform * probabilities.reduce((sum, probability) => sum + probability, 0)
  for (const [i, probability] of probabilities.entries()) {
    left -= probability
    if (left < 0) return candidates[i] as number
  }
  return candidates[probabilities.length - 1] as number
}
