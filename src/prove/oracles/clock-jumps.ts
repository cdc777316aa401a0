import type {History, Observed} from '../history/history.js'
import {callsOf, mayLoseTime, numberOf, textOf} from './effect.js'
import {claimHolds, type HoldInterval, leaseHolds, untilOf} from './hold-intervals.js'
import {checkEach, combine, groupBy, neverFalls, type Oracle, type OracleResult, violation} from './oracle.js'

/** Maximum age of the time saved in the database when a server restarts, ms. */
const savedEveryMs = 2000

/** The server's clock never goes back, and no lease or claim ends early, even if the system clock is changed. */
export const clockIsItsOwn: Oracle = (history) => combine(timeNeverFalls(history), renewalsInTimeSucceed(history))

function timeNeverFalls(history: History): OracleResult {
  const reported = history.calls.flatMap((call) => {
    const time = numberOf(call.body?.server_time_unix_ms)
    return Number.isFinite(time) ? [{call, time}] : []
  })
  return neverFalls(
    reported,
    ({time}) => time,
    (before, now) => {
      const backMs = before.time - now.time
      const isLost = backMs <= savedEveryMs && mayLoseTime(history, before.call, now.call)
      if (backMs <= history.clockToleranceMs) return false
      return !isLost && violation(`The server's clock went back by ${backMs} ms.`, before.call.id, now.call.id)
    },
  )
}

/** A holder that renews in time is not refused. */
function renewalsInTimeSucceed(history: History): OracleResult {
  const leases = groupBy(leaseHolds(history), ({title}) => title)
  const claims = groupBy(claimHolds(history), ({what, holder}) => `${what} of ${holder}`)
  const renewals = [
    ...callsOf(history, 'exec_lease_renew').map((call) => ({call, holds: leases.get(textOf(call.args.lease_id))})),
    ...callsOf(history, 'a2a_lease_renew').map((call) => ({
      call,
      holds: claims.get(`${call.args.message_id} of ${call.args.claimer_node_id}`),
    })),
  ].flatMap(({call, holds = []}) => {
    const hold = holds.find((each) => isIn(call, each))
    return hold === undefined ? [] : [{call, hold}]
  })
  return checkEach(
    renewals,
    ({call, hold}) =>
      (call.status === 404 || call.status === 409) &&
      violation(
        `${hold.holder} got ${call.status} for ${hold.what} ${Math.round(hold.until - call.answered)} ms before expiry.`,
        hold.call,
        call.id,
      ),
  )
}

const isIn = ({sent, answered, args}: Observed, hold: HoldInterval) =>
  hold.holder === args.claimer_node_id && hold.from <= sent && answered <= untilOf(hold)
