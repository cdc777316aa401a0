import type {History, Observed} from '../history/history.js'
import {callsOf, numberOf, textOf, wasRestarted} from './effect.js'
import {claimHolds, type HoldInterval, leaseHolds, untilOf} from './hold-intervals.js'
import {checkEach, combine, type Finding, groupBy, neverFalls, type Oracle, violation} from './oracle.js'

/** What the file knows of the time is at most so old when a server starts again, ms. */
const savedEveryMs = 2000

/** The clock of the server never goes back, and nothing that is held ends before its time, whatever its machine's clock does. */
export const clockIsItsOwn: Oracle = (history) => combine(timeGoesOn(history), heldStaysHeld(history))

function timeGoesOn(history: History): Finding {
  const reported = history.calls.flatMap((call) => {
    const time = numberOf(call.body?.server_time_unix_ms)
    return Number.isFinite(time) ? [{call, time}] : []
  })
  return neverFalls(
    reported,
    ({time}) => time,
    (before, now) => {
      const backMs = before.time - now.time
      const isLost = backMs <= savedEveryMs && wasRestarted(history, before.call, now.call)
      return !isLost && violation(`The clock of the server went back by ${backMs} ms.`, before.call.id, now.call.id)
    },
  )
}

/** Whoever renews in time what is surely theirs is not refused as if it were not. */
function heldStaysHeld(history: History): Finding {
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
        `${hold.holder} was told ${call.status} of ${hold.what} ${Math.round(hold.until - call.answered)} ms before its time.`,
        hold.call,
        call.id,
      ),
  )
}

const isIn = ({sent, answered, args}: Observed, hold: HoldInterval) =>
  hold.holder === args.claimer_node_id && hold.from <= sent && answered <= untilOf(hold)
