import {randomSource} from '../../src/sampling/index.js'

/** A seeded source of approximately normal numbers with mean 0 and variance 1. */
export function randomFloats(seed: number): (count: number) => Float32Array {
  const uniform = randomSource(seed)
  return (count) =>
    new Float32Array(count).map(() => {
      const radius = Math.sqrt(-2 * Math.log(1 - uniform()))
      return radius * Math.cos(2 * Math.PI * uniform())
    })
}

/** The same for very many numbers: repeats a million of them from varying positions. */
export function pooledFloats(seed: number): (count: number) => Float32Array {
  const pool = randomFloats(seed)(1 << 20)
  const uniform = randomSource(seed)
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
