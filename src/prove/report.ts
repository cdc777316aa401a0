import type {History, RunEvent} from './history/history.js'
import {type InvariantId, invariants} from './oracles/index.js'

/** Whether an invariant held, and what shows that it did not. */
export interface Verdict {
  id: InvariantId
  claim: string
  held: boolean
  /** Facts that it was held against. */
  checked: number
  violations: {what: string; calls: number[]}[]
  /** Those beyond the first few, which are not reported. */
  more_violations: number
}

/** What became of the requests of one operation. */
export interface Outcomes {
  operation: string
  sent: number
  /** By status; `unknown` where no answer came. */
  outcomes: Record<string, number>
}

/** What a run has shown. */
export interface Report {
  seed: number
  minutes: number
  seconds: number
  operations: number
  /** Of those, requests that were answered. */
  answered: number
  by_operation: Outcomes[]
  /** How often each fault was made. */
  faults: Record<string, number>
  invariants: Verdict[]
  held: boolean
  /** Folder with the logs and the database; kept where something did not hold, or where it was asked for. */
  folder: string | null
}

/** Violations of one invariant that are reported. */
const mostReported = 20

export function judge(history: History): Verdict[] {
  return Object.entries(invariants).map(([id, {claim, find}]) => {
    const {checked, violations} = find(history)
    return {
      id: id as InvariantId,
      claim,
      held: violations.length === 0,
      checked,
      violations: violations
        .slice(0, mostReported)
        .map(({what, calls}) => ({what, calls: calls.slice(0, mostReported)})),
      more_violations: Math.max(0, violations.length - mostReported),
    }
  })
}

export function countOutcomes({calls}: Pick<History, 'calls'>): Outcomes[] {
  const found = new Map<string, Outcomes>()
  for (const {operation, status} of calls) {
    const row = found.get(operation) ?? {operation, sent: 0, outcomes: {}}
    const outcome = status === undefined ? 'unknown' : String(status)
    row.sent++
    row.outcomes[outcome] = (row.outcomes[outcome] ?? 0) + 1
    found.set(operation, row)
  }
  return [...found.values()].sort((a, b) => b.sent - a.sent)
}

/** Faults of the server, of connections, and of clients, by their names. */
export function countFaults({calls, events}: Pick<History, 'calls' | 'events'>): Record<string, number> {
  const names = [
    ...events.filter(isFault).map(({event}) => event),
    ...calls.flatMap(({fault}) => (fault === undefined ? [] : [fault])),
    ...calls.flatMap(({args}) => ('bytes' in args ? ['oversize'] : [])),
    ...calls.flatMap(({code}) => (code === 'duplicate_node_id' ? ['duplicate_node_id'] : [])),
  ]
  const counts: Record<string, number> = {}
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1
  return counts
}

const isFault = ({event}: RunEvent) => event !== 'drain' && event !== 'died'
