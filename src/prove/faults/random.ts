/** Numbers that look random and are the same for the same seed. */
export interface Random {
  /** At least 0, below 1. */
  next(): number
  /** A whole number, both ends included. */
  integer(from: number, to: number): number
  chance(probability: number): boolean
  pick<T>(items: readonly [T, ...T[]]): T
  /** One of the keys, each as often as its weight says. */
  weighted<K extends string>(weights: Readonly<Record<K, number>>): K
  shuffle<T>(items: readonly T[]): T[]
  /** A stream of its own under a name, which does not depend on how much was drawn from this one. */
  fork(name: string): Random
}

const mask = (1n << 64n) - 1n

/** SplitMix64 (Steele, Lea, Flood 2014): tiny, and good for any seed, neighbouring ones too. */
export function createRandom(seed: number | bigint): Random {
  const origin = BigInt(seed) & mask
  let state = origin
  const draw = (): bigint => {
    state = (state + 0x9e3779b97f4a7c15n) & mask
    return scramble(state)
  }
  // 53 bits are as many as a number between 0 and 1 can distinguish.
  const next = () => Number(draw() >> 11n) / 2 ** 53
  const integer = (from: number, to: number) => from + Math.floor(next() * (to - from + 1))
  return {
    next,
    integer,
    chance: (probability) => next() < probability,
    pick: (items) => items[integer(0, items.length - 1)] ?? items[0],
    weighted: (weights) => {
      const rows = Object.entries(weights) as [keyof typeof weights, number][]
      let rest = next() * rows.reduce((sum, [, weight]) => sum + weight, 0)
      const found = rows.find(([, weight]) => {
        rest -= weight
        return rest < 0
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
