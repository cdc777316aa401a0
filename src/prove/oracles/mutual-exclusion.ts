import {claimHolds, type HoldInterval, leaseHolds, overlaps, untilOf} from './hold-intervals.js'
import {type Oracle, type OracleResult, violation} from './oracle.js'

export const oneLeaseHolder: Oracle = (history) => judge('key', leaseHolds(history))

export const oneClaimHolder: Oracle = (history) => judge('message', claimHolds(history))

function judge(kind: string, holds: readonly HoldInterval[]): OracleResult {
  const violations = overlaps(holds).map(([first, second]) => {
    const ms = (Math.min(untilOf(first), untilOf(second)) - second.from).toFixed(1)
    const who = `${first.holder} (${first.title}) and ${second.holder} (${second.title})`
    return violation(`The ${kind} ${first.what} was held by ${who} for ${ms} ms.`, first.call, second.call)
  })
  return {checked: holds.length, violations}
}
