import type {History, Observed} from '../history/history.js'
import {callsOf, textOf} from './effect.js'
import {type HoldInterval, leaseHolds, untilOf} from './hold-intervals.js'
import {endOfLeases} from './lease-ends.js'
import {
  checkEach,
  combine,
  groupBy,
  neverFalls,
  type Oracle,
  type OracleResult,
  type Violation,
  violation,
} from './oracle.js'

/** Fencing tokens of a key only increase, each belongs to one lease, and none is reused after its lease has ended. */
export const tokensGrow: Oracle = (history) => {
  const grants = callsOf(history, 'exec_lease_grant').filter(({status}) => status === 200)
  const ends = endOfLeases(history)
  return combine(
    ...[...groupBy(grants, ({args}) => textOf(args.scope_key))].map(([key, own]) => neverBack(key, own)),
    ...[...groupBy(leaseHolds(history), ({what}) => what)].map(([key, own]) => heldInOrder(key, own)),
    checkEach(groupBy(grants, leaseOf), ([lease, own]) => belongsToOne(lease, own)),
    checkEach(grants, (grant) => {
      const lease = leaseOf(grant)
      const end = ends.get(lease)
      return (
        end !== undefined &&
        end.answered <= grant.sent &&
        violation(`Lease ${lease} had ended but was granted again.`, end.id, grant.id)
      )
    }),
    checkEach(
      grants,
      ({body, id}) =>
        body?.fence_token !== Number(body?.lease_id) &&
        violation(`Lease ${body?.lease_id} has the fencing token ${body?.fence_token}.`, id),
    ),
    notBehind(history, grants),
  )
}

const leaseOf = ({body}: Observed) => textOf(body?.lease_id)

/** A grant that starts after another has completed does not get a lower token. */
const neverBack = (key: string, grants: readonly Observed[]): OracleResult =>
  neverFalls(
    grants.map((call) => ({call})),
    ({call}) => Number(leaseOf(call)),
    ({call: before}, {call: now}) => {
      const what = `The token of ${key} decreased from ${leaseOf(before)} to ${leaseOf(now)}.`
      return violation(what, before.id, now.id)
    },
  )

/** Of two held leases, the later one has the higher token, even if it was requested first. */
function heldInOrder(key: string, holds: readonly HoldInterval[]) {
  const held = holds.filter((hold) => untilOf(hold) > hold.from).toSorted((a, b) => a.from - b.from)
  let highest: HoldInterval | undefined
  return checkEach(held, (hold): Violation | false => {
    if (highest === undefined || Number(hold.title) >= Number(highest.title)) {
      highest = hold
      return false
    }
    const what = `${key} was held with token ${highest.title} and later with ${hold.title}.`
    return violation(what, highest.call, hold.call)
  })
}

function belongsToOne(lease: string, grants: readonly Observed[]): Violation | false {
  const owners = new Map(grants.map((grant) => [`${grant.args.scope_key} of ${grant.args.claimer_node_id}`, grant.id]))
  return (
    owners.size > 1 &&
    violation(`Lease ${lease} was granted for ${[...owners.keys()].join(' and ')}.`, ...owners.values())
  )
}

/** The stored token of a key is not lower than a token that was returned to a client. */
function notBehind({rows}: History, grants: readonly Observed[]) {
  const stored = new Map(rows.leases.map(({scope_key, lease_id}) => [scope_key, lease_id]))
  return checkEach(
    groupBy(grants, ({args}) => textOf(args.scope_key)),
    ([key, own]): Violation | false => {
      const highest = Math.max(...own.map((grant) => Number(leaseOf(grant))))
      const token = stored.get(key)
      return (
        token !== undefined &&
        token < highest &&
        violation(
          `The database has token ${token} for ${key}, but ${highest} was granted.`,
          ...own.slice(-1).map(({id}) => id),
        )
      )
    },
  )
}
