/** Deterministic pseudo-random numbers. */
export interface Random {
  /** Number in [0, 1). */
  next(): number
  /** Integer in [from, to]. */
  integer(from: number, to: number): number
  chance(probability: number): boolean
  pick<T>(items: readonly [T, ...T[]]): T
  /** Picks a key with a probability proportional to its weight. */
  weighted<K extends string>(weights: Readonly<Record<K, number>>): K
  shuffle<T>(items: readonly T[]): T[]
  /** Independent stream for a name, unaffected by how many numbers were drawn from this one. */
  fork(name: string): Random
}

const mask = (1n << 64n) - 1n

/** SplitMix64 (Steele, Lea, Flood 2014): consecutive seeds also give uncorrelated streams. */
export function createRandom(seed: number | bigint): Random {
  const origin = BigInt(seed) & mask
  let state = origin
  const draw = (): bigint => {
    state = (state + 0x9e3779b97f4a7c15n) & mask
    return scramble(state)
  }
  // The significand of a double has 53 bits.
  const next = () => Number(draw() >> 11n) / 2 ** 53
  const integer = (from: number, to: number) => from + Math.floor(next() * (to - from + 1))
  return {
    next,
    integer,
    chance: (probability) => next() < probability,
    pick: (items) => items[integer(0, items.length - 1)] ?? items[0],
    weighted: (weights) => {
      const rows = Object.entries(weights) as [keyof typeof weights, number][]
      let remaining = next() * rows.reduce((sum, [, weight]) => sum + weight, 0)
      const found = rows.find(([, weight]) => {
        remaining -= weight
        return remaining < 0
      })
      const [key] = found ?? (rows.at(-1) as [keyof typeof weights, number])
      return key
    },
    shuffle: (items) => {
      const left = [...items]
      return items.flatMap(() => left.splice(integer(0, left.length - 1), 1))
    },
    fork: (name) => createRandom(scramble(origin ^ hash(name))),
  }
}

function scramble(value: bigint): bigint {
  const first = ((value ^ (value >> 30n)) * 0xbf58476d1ce4e5b9n) & mask
  const second = ((first ^ (first >> 27n)) * 0x94d049bb133111ebn) & mask
  return second ^ (second >> 31n)
}

/** FNV-1a, 64 bits. */
function hash(text: string): bigint {
  let sum = 0xcbf29ce484222325n
  for (const byte of Buffer.from(text)) sum = ((sum ^ BigInt(byte)) * 0x100000001b3n) & mask
  return sum
}
