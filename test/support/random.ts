import {randomSource} from '../../src/sampling/index.js'

/** Seeded random choices, the same on every machine. The functions need no receiver. */
export interface Random {
  /** A number in [0, 1). */
  next: () => number
  /** An integer in [0, limit). */
  below: (limit: number) => number
  pick: <T>(items: readonly T[]) => T
  chance: (probability: number) => boolean
}

export function seeded(seed: number): Random {
  const next = randomSource(seed)
  const below = (limit: number) => Math.floor(next() * limit)
  return {
    next,
    below,
    pick: <T>(items: readonly T[]) => items[below(items.length)] as T,
    chance: (probability) => next() < probability,
  }
}
