/** Id of the largest finite logit, the lowest id on ties; -1 if none is finite. */
export function argmax(logits: Float32Array): number {
  let best = -1
  let highest = -Infinity
  for (let id = 0; id < logits.length; id++) {
    const logit = logits[id]!
    if (logit > highest && logit < Infinity) {
      best = id
      highest = logit
    }
  }
  return best
}

/** Ids of the tokens with finite logits, ascending. */
export function finiteTokens(logits: Float32Array): Uint32Array {
  const ids = new Uint32Array(logits.length)
  let count = 0
  for (let id = 0; id < logits.length; id++) if (Number.isFinite(logits[id])) ids[count++] = id
  return ids.subarray(0, count)
}

/** Ids of the k largest finite logits, largest first; lower ids first on ties. */
export function mostLikely(logits: Float32Array, k: number): Uint32Array {
  const before = (a: number, b: number) => logits[b]! - logits[a]! || a - b
  if (k >= logits.length) return finiteTokens(logits).sort(before)

  const heap = new Uint32Array(k)
  let next = 0
  let size = 0
  for (; size < k && next < logits.length; next++) if (Number.isFinite(logits[next])) heap[size++] = next
  if (k === 0 || size < k) return heap.subarray(0, size).sort(before)

  // A heap with the worst of the k at its root: one comparison rejects most of the vocabulary.
  const sink = (start: number) => {
    for (let at = start; ; ) {
      let worst = at
      const left = 2 * at + 1
      if (left < k && before(heap[left]!, heap[worst]!) > 0) worst = left
      if (left + 1 < k && before(heap[left + 1]!, heap[worst]!) > 0) worst = left + 1
      if (worst === at) return
      const id = heap[at]!
      heap[at] = heap[worst]!
      heap[worst] = id
      at = worst
    }
  }
  for (let i = (k >> 1) - 1; i >= 0; i--) sink(i)
  let threshold = logits[heap[0]!]!
  for (let id = next; id < logits.length; id++) {
    const logit = logits[id]!
    if (!(logit > threshold && logit < Infinity)) continue
    heap[0] = id
    sink(0)
    threshold = logits[heap[0]!]!
  }
  return heap.sort(before)
}
