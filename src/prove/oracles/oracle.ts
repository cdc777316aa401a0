import type {History} from '../history/history.js'

/** Something that must never be, and was. */
export interface Violation {
  /** One sentence with the facts of the case. */
  what: string
  /** Ids of the calls that show it. */
  calls: readonly number[]
}

export interface Finding {
  /** Facts that were looked at: what was never put to the test has not held. */
  checked: number
  violations: readonly Violation[]
}

/** Judges one invariant by what clients saw and what the file holds; knows nothing of how the server works. */
export type Oracle = (history: History) => Finding

/** Finds by looking at one fact after the other; each gives a violation or none. */
export function examine<T>(facts: Iterable<T>, look: (fact: T) => Violation | undefined): Finding {
  let checked = 0
  const violations: Violation[] = []
  for (const fact of facts) {
    checked++
    const found = look(fact)
    if (found !== undefined) violations.push(found)
  }
  return {checked, violations}
}

export const together = (...findings: readonly Finding[]): Finding => ({
  checked: findings.reduce((sum, {checked}) => sum + checked, 0),
  violations: findings.flatMap(({violations}) => violations),
})

export function groupBy<T, K>(items: Iterable<T>, keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [item])
    else group.push(item)
  }
  return groups
}
