import type {Hold} from './hold-intervals.js'
import {claimHolds, leaseHolds, overlaps, untilOf} from './hold-intervals.js'
import type {Finding, Oracle, Violation} from './oracle.js'

/** A key has at most one lease that has not ended. */
export const oneLeaseHolder: Oracle = (history) => judge('key', leaseHolds(history))

/** A message is with at most one node at a time. */
export const oneClaimHolder: Oracle = (history) => judge('message', claimHolds(history))

function judge(kind: string, holds: readonly Hold[]): Finding {
  const violations = overlaps(holds).map(([first, second]): Violation => {
    const ms = (Math.min(untilOf(first), untilOf(second)) - second.from).toFixed(1)
    const who = `${first.holder} (${first.title}) and ${second.holder} (${second.title})`
    return {what: `The ${kind} ${first.what} was held by ${who} for ${ms} ms.`, calls: [first.call, second.call]}
  })
  return {checked: holds.length, violations}
}
