import {type History, messagesOf, type Observed} from '../history/history.js'
import {callsOf, effectOf, numberOf, textOf} from './effect.js'
import {groupBy} from './oracle.js'

/**
 * Interval in which a client certainly holds a lease or a message: the server confirmed it and nothing can have ended
 * it.
 */
export interface HoldInterval {
  /** Key of the lease, or id of the message. */
  what: string
  /** Identifies the hold: id of the lease, or holder of the message. */
  title: string
  holder: string
  from: number
  until: number
  /** Call that confirmed the hold. */
  call: number
  /** Calls that may have ended it earlier. */
  ends: readonly {at: number; call: number}[]
}

/** End of a hold: the earliest of its possible ends, except those caused by `exceptCall`. */
export const untilOf = ({until, ends}: HoldInterval, exceptCall?: number): number =>
  Math.min(until, ...ends.filter(({call}) => call !== exceptCall).map(({at}) => at))

/**
 * Maximum relative deviation of the server's clock from real time while it slews towards a changed system clock. Holds
 * are counted as that much shorter.
 */
export const clockSlew = 0.05
/** Tolerance for clocks that report whole milliseconds, at each end of an interval. */
const roundingMs = 3

/** Successful grant, claim or renewal. */
interface Success {
  call: Observed
  what: string
  title: string
  holder: string
  /** Names under which its possible ends are indexed. */
  filed: readonly string[]
}

function holdsOf(
  {leaseMs}: History,
  successes: readonly Success[],
  ends: readonly [string, Observed][],
): HoldInterval[] {
  const endsOf = groupBy(ends, ([name]) => name)
  const sureMs = leaseMs * (1 - clockSlew) - roundingMs
  return successes.map(({call, what, title, holder, filed}) => {
    const own = filed
      .flatMap((name) => endsOf.get(name) ?? [])
      .flatMap(([, end]) => {
        const effect = effectOf(end)
        // A call that completed before this one was sent ended an earlier hold.
        return effect === undefined || effect.until <= call.sent
          ? []
          : [{at: Math.max(end.sent, call.sent), call: end.id}]
      })
    return {what, title, holder, from: call.answered, until: call.sent + sureMs, call: call.id, ends: own}
  })
}

/** Ends of all holds of a node: it left, or was put into quarantine. */
const endsOfNodes = (history: History): [string, Observed][] => [
  ...callsOf(history, 'leave').map((call): [string, Observed] => [`node ${textOf(call.args.id)}`, call]),
  ...callsOf(history, 'admin_quarantine')
    .filter(({args}) => args.quarantined === true)
    .map((call): [string, Observed] => [`node ${textOf(call.args.node_id)}`, call]),
]

export interface Granted {
  lease: string
  scopeKey: string
  holder: string
}

/** Owner of each lease, from the first response that contained it. */
export function grantedLeases(history: History): Map<string, Granted> {
  const found = new Map<string, Granted>()
  for (const {status, body, args} of callsOf(history, 'exec_lease_grant')) {
    const lease = textOf(body?.lease_id)
    if (status === 200 && !found.has(lease))
      found.set(lease, {lease, scopeKey: textOf(args.scope_key), holder: textOf(args.claimer_node_id)})
  }
  return found
}

export function leaseHolds(history: History): HoldInterval[] {
  const granted = grantedLeases(history)
  const successes = callsOf(history, 'exec_lease_grant', 'exec_lease_renew').flatMap((call): Success[] => {
    const isGrant = call.operation === 'exec_lease_grant'
    if (call.status !== (isGrant ? 200 : 204)) return []
    const lease = textOf(isGrant ? call.body?.lease_id : call.args.lease_id)
    const known = granted.get(lease)
    if (known === undefined) return []
    const {scopeKey, holder} = known
    return [{call, what: scopeKey, title: lease, holder, filed: [`lease ${lease}`, `node ${holder}`]}]
  })
  const ended = callsOf(history, 'exec_lease_release', 'admin_exec_lease_revoke').map((call): [string, Observed] => [
    `lease ${textOf(call.args.lease_id)}`,
    call,
  ])
  return holdsOf(history, successes, [...ended, ...endsOfNodes(history)])
}

export function claimHolds(history: History): HoldInterval[] {
  const successes = callsOf(history, 'a2a_inbox', 'a2a_lease_renew').flatMap((call): Success[] => {
    const holder = textOf(call.args.claimer_node_id)
    const [first] = messagesOf(call)
    const message = call.operation === 'a2a_inbox' ? first?.id : numberOf(call.args.message_id)
    const isSuccess = call.status === (call.operation === 'a2a_inbox' ? 200 : 204)
    if (holder === '' || message === undefined || !isSuccess) return []
    return [{call, what: String(message), title: holder, holder, filed: [`message ${message}`, `node ${holder}`]}]
  })
  const acked = callsOf(history, 'a2a_ack').map((call): [string, Observed] => [
    `message ${numberOf(call.args.message_id)}`,
    call,
  ])
  return holdsOf(history, successes, [...acked, ...endsOfNodes(history)])
}

/** Overlapping holds of the same resource with different titles, one pair for each pair of titles. */
export function overlaps(holds: readonly HoldInterval[]): [HoldInterval, HoldInterval][] {
  const pairs: [HoldInterval, HoldInterval][] = []
  for (const own of groupBy(holds, ({what}) => what).values()) {
    /** Longest-lasting hold of each title so far. */
    const last = new Map<string, HoldInterval>()
    const reported = new Set<string>()
    for (const hold of own.toSorted((a, b) => a.from - b.from)) {
      if (untilOf(hold) <= hold.from) continue
      for (const [title, other] of last) {
        const both = `${title} ${hold.title}`
        if (title === hold.title || untilOf(other) <= hold.from || reported.has(both)) continue
        reported.add(both)
        pairs.push([other, hold])
      }
      const before = last.get(hold.title)
      if (before === undefined || untilOf(before) < untilOf(hold)) last.set(hold.title, hold)
    }
  }
  return pairs
}
