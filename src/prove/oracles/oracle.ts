import type {History, Observed} from '../history/history.js'

export interface Violation {
  /** Description: one sentence. */
  what: string
  /** Ids of the calls that prove it. */
  calls: readonly number[]
}

/** @param calls ids of the calls that prove it */
export const violation = (what: string, ...calls: readonly number[]): Violation => ({what, calls})

export interface OracleResult {
  /** Number of facts checked; an invariant with 0 was not tested. */
  checked: number
  violations: readonly Violation[]
}

/** Checks one invariant from the calls and the database, without knowledge of the server's implementation. */
export type Oracle = (history: History) => OracleResult

export function checkEach<T>(facts: Iterable<T>, check: (fact: T) => Violation | false): OracleResult {
  let checked = 0
  const violations: Violation[] = []
  for (const fact of facts) {
    checked++
    const violation = check(fact)
    if (violation) violations.push(violation)
  }
  return {checked, violations}
}

export const combine = (...findings: readonly OracleResult[]): OracleResult => ({
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

/**
 * Compares each fact with the highest fact whose response had arrived before its request was sent.
 * @param check called if it is lower
 */
export function neverFalls<T extends {call: Observed}>(
  facts: readonly T[],
  heightOf: (fact: T) => number,
  check: (before: T, now: T) => Violation | false,
): OracleResult {
  const bySent = facts.toSorted((a, b) => a.call.sent - b.call.sent)
  const byAnswer = facts.toSorted((a, b) => a.call.answered - b.call.answered)
  let next = 0
  let highest: T | undefined
  return checkEach(bySent, (fact) => {
    for (; next < byAnswer.length; next++) {
      const passed = byAnswer[next]
      if (passed === undefined || passed.call.answered > fact.call.sent) break
      if (highest === undefined || heightOf(passed) > heightOf(highest)) highest = passed
    }
    return highest !== undefined && heightOf(fact) < heightOf(highest) && check(highest, fact)
  })
}
