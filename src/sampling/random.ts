/** Returns pseudorandom numbers in [0, 1). */
export type RandomSource = () => number

/**
 * A seeded generator with the same output on every machine. Mulberry32 by Tommy Ettinger (public domain): 32 bits of
 * state, full period, suitable for sampling but not for cryptography.
 */
export function randomSource(seed: number): RandomSource {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
