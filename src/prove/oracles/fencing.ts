import type {History, Observed} from '../history/history.js'
import {callsOf, textOf} from './effect.js'
import {type Hold, leaseHolds, untilOf} from './hold-intervals.js'
import {endOfLeases} from './lease-ends.js'
import {examine, groupBy, type Oracle, together, type Violation} from './oracle.js'

/** Fencing tokens of a key only grow, one belongs to one lease for ever, and none comes back after its end. */
export const tokensGrow: Oracle = (history) => {
  const grants = callsOf(history, 'exec_lease_grant').filter(({status}) => status === 200)
  const ends = endOfLeases(history)
  return together(
    ...[...groupBy(grants, ({args}) => textOf(args.scope_key))].map(([key, own]) => neverBack(key, own)),
    ...[...groupBy(leaseHolds(history), ({what}) => what)].map(([key, own]) => heldInOrder(key, own)),
    examine(groupBy(grants, leaseOf), ([lease, own]) => belongsToOne(lease, own)),
    examine(grants, (grant) => {
      const lease = leaseOf(grant)
      const end = ends.get(lease)
      return end !== undefined && end.answered <= grant.sent
        ? {what: `Lease ${lease} had ended, and was given out again.`, calls: [end.id, grant.id]}
        : undefined
    }),
    examine(grants, ({body, id}) =>
      body?.fence_token === Number(body?.lease_id)
        ? undefined
        : {what: `Lease ${body?.lease_id} has the fencing token ${body?.fence_token}.`, calls: [id]},
    ),
    notBehind(history, grants),
  )
}

const leaseOf = ({body}: Observed) => textOf(body?.lease_id)

/** Of two grants, the one that began when the other was over has no lower token. */
function neverBack(key: string, grants: readonly Observed[]) {
  const byAnswer = grants.toSorted((a, b) => a.answered - b.answered)
  let next = 0
  let highest: Observed | undefined
  return examine(grants, (grant): Violation | undefined => {
    for (; (byAnswer[next]?.answered ?? Infinity) <= grant.sent; next++) {
      const passed = byAnswer[next]
      if (highest === undefined || (passed !== undefined && Number(leaseOf(passed)) > Number(leaseOf(highest))))
        highest = passed
    }
    if (highest === undefined || Number(leaseOf(grant)) >= Number(leaseOf(highest))) return undefined
    const what = `The token of ${key} went from ${leaseOf(highest)} back to ${leaseOf(grant)}.`
    return {what, calls: [highest.id, grant.id]}
  })
}

/** Of two leases that were held, the one that was held later has the higher token, whenever it was asked for. */
function heldInOrder(key: string, holds: readonly Hold[]) {
  const held = holds.filter((hold) => untilOf(hold) > hold.from).toSorted((a, b) => a.from - b.from)
  let highest: Hold | undefined
  return examine(held, (hold): Violation | undefined => {
    if (highest === undefined || Number(hold.title) >= Number(highest.title)) {
      highest = hold
      return undefined
    }
    const what = `${key} was held with token ${highest.title}, and then with ${hold.title}.`
    return {what, calls: [highest.call, hold.call]}
  })
}

function belongsToOne(lease: string, grants: readonly Observed[]): Violation | undefined {
  const owners = new Map(grants.map((grant) => [`${grant.args.scope_key} of ${grant.args.claimer_node_id}`, grant.id]))
  if (owners.size === 1) return undefined
  return {what: `Lease ${lease} was given out as ${[...owners.keys()].join(' and ')}.`, calls: [...owners.values()]}
}

/** What the file holds of a key is no older than what was answered. */
function notBehind({rows}: History, grants: readonly Observed[]) {
  const stored = new Map(rows.leases.map(({scope_key, lease_id}) => [scope_key, lease_id]))
  return examine(
    groupBy(grants, ({args}) => textOf(args.scope_key)),
    ([key, own]): Violation | undefined => {
      const highest = Math.max(...own.map((grant) => Number(leaseOf(grant))))
      const kept = stored.get(key)
      return kept === undefined || kept >= highest
        ? undefined
        : {
            what: `The file has token ${kept} for ${key}, and ${highest} was given out.`,
            calls: own.slice(-1).map(({id}) => id),
          }
    },
  )
}
