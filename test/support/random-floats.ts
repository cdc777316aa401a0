/** A seeded source of approximately normal numbers with mean 0 and variance 1. Source: mulberry32. */
export function randomFloats(seed: number): (count: number) => Float32Array {
  const uniform = uniformFloats(seed)
  return (count) =>
    Float32Array.from({length: count}, () => {
      const radius = Math.sqrt(-2 * Math.log(1 - uniform()))
      return radius * Math.cos(2 * Math.PI * uniform())
    })
}

/** A seeded source of numbers from 0 to 1. */
export function uniformFloats(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let x = Math.imul(state ^ (state >>> 15), 1 | state)
    x = (x + Math.imul(x ^ (x >>> 7), 61 | x)) ^ x
    return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32
  }
}

/** The same for very many numbers: repeats a million of them from varying positions. */
export function pooledFloats(seed: number): (count: number) => Float32Array {
  const pool = randomFloats(seed)(1 << 20)
  const uniform = uniformFloats(seed)
  return (count) => {
    const out = new Float32Array(count)
    for (let at = 0; at < count; ) {
      const start = Math.floor(1000 * uniform())
      const part = pool.subarray(start, Math.min(pool.length, start + count - at))
      out.set(part, at)
      at += part.length
    }
    return out
  }
}
