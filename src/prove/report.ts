import type {History, RunEvent} from './history/history.js'
import {type InvariantId, invariants} from './oracles/index.js'

/** Result of one invariant. */
export interface Verdict {
  id: InvariantId
  claim: string
  held: boolean
  /** Number of facts checked. */
  checked: number
  violations: {what: string; calls: number[]}[]
  /** Number of violations that are not listed. */
  more_violations: number
}

/** Outcomes of the requests of one operation. */
export interface Outcomes {
  operation: string
  sent: number
  /** Counts by HTTP status; `unknown` if no response arrived. */
  outcomes: Record<string, number>
}

export interface Report {
  seed: number
  minutes: number
  seconds: number
  operations: number
  /** Requests that received a response. */
  answered: number
  by_operation: Outcomes[]
  faults: Record<string, number>
  invariants: Verdict[]
  held: boolean
  /** Folder with the logs and the database; null if it was deleted. */
  folder: string | null
}

/** Maximum number of violations listed per invariant. */
const maxReported = 20

export function judge(history: History): Verdict[] {
  return Object.entries(invariants).map(([id, {claim, find}]) => {
    const {checked, violations} = find(history)
    return {
      id: id as InvariantId,
      claim,
      held: violations.length === 0,
      checked,
      violations: violations.slice(0, maxReported).map(({what, calls}) => ({what, calls: calls.slice(0, maxReported)})),
      more_violations: Math.max(0, violations.length - maxReported),
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

/** Counts the faults of the server, of connections and of clients by name. */
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

const notFaults = ['drain', 'settle', 'died', 'program_died', 'program_refused']
const isFault = ({event}: RunEvent) => !notFaults.includes(event)
