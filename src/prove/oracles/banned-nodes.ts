import {type History, messagesOf, type Observed} from '../history/history.js'
import {callsOf, effectOf, eventsBetween, isDisturbance, mayActAfter, numberOf, textOf} from './effect.js'
import {checkEach, groupBy, type Oracle, violation} from './oracle.js'

/** Interval in which a node is certainly in quarantine or maintenance. */
interface Ban {
  node: string
  from: number
  until: number
  call: number
}

/** A node in quarantine or maintenance gets neither leases nor messages. */
export const bannedGetsNothing: Oracle = (history) => {
  const bans = groupBy([...quarantines(history), ...maintenances(history)], ({node}) => node)
  const got = callsOf(history, 'exec_lease_grant', 'a2a_inbox').filter(
    (call) => textOf(call.args.claimer_node_id) !== '',
  )
  const tried = got.filter(({args, sent}) =>
    bans.get(textOf(args.claimer_node_id))?.some(({from, until}) => from <= sent && sent < until),
  )
  return checkEach(tried, (call) => {
    const node = textOf(call.args.claimer_node_id)
    const ban = bans.get(node)?.find(({from, until}) => from <= call.sent && call.answered <= until)
    if (ban === undefined || !hasGot(call)) return false
    const what = call.operation === 'a2a_inbox' ? 'a message' : 'a lease'
    return violation(`${node} got ${what} while in quarantine or maintenance.`, ban.call, call.id)
  })
}

const hasGot = (call: Observed) =>
  call.status === 200 && (call.operation === 'exec_lease_grant' || messagesOf(call).length > 0)

/** Each ban lasts from the response to its request to the first request that may have ended it. */
function bansOf(orders: readonly Observed[], isOn: (call: Observed) => boolean, others: readonly Observed[]): Ban[] {
  return orders
    .filter((call) => isOn(call) && call.status === 204)
    .map((on) => {
      const reversals = [...orders.filter((call) => !isOn(call)), ...others]
      const ended = reversals.filter((call) => call.id !== on.id && mayActAfter(call, on.sent)).map(({sent}) => sent)
      return {node: textOf(on.args.node_id), from: on.answered, until: Math.min(...ended), call: on.id}
    })
}

const byNode = (calls: readonly Observed[], member: string) => groupBy(calls, ({args}) => textOf(args[member]))

const quarantines = (history: History): Ban[] =>
  [...byNode(callsOf(history, 'admin_quarantine'), 'node_id').values()].flatMap((orders) =>
    bansOf(orders, ({args}) => args.quarantined === true, []),
  )

/** Unlike quarantine, maintenance also ends at its deadline and when the node leaves. */
function maintenances(history: History): Ban[] {
  const leaves = byNode(callsOf(history, 'leave'), 'id')
  return [...byNode(callsOf(history, 'admin_maintenance'), 'node_id')].flatMap(([node, orders]) => {
    const windows = orders.filter(({args}) => args.maintenance_for_ms !== undefined)
    const lasting = bansOf(
      orders.filter((call) => !windows.includes(call)),
      ({args}) => args.maintenance === true,
      [...(leaves.get(node) ?? []), ...windows],
    )
    return [...lasting, ...windows.flatMap((window) => windowOf(history, window, orders, leaves.get(node) ?? []))]
  })
}

function windowOf(history: History, on: Observed, orders: readonly Observed[], leaves: readonly Observed[]): Ban[] {
  if (on.status !== 204 || effectOf(on) === undefined) return []
  const until = on.sent + numberOf(on.args.maintenance_for_ms)
  const others = [...orders, ...leaves].filter((call) => call.id !== on.id && mayActAfter(call, on.sent))
  // After a clock step or restart the deadline is not predictable.
  if (eventsBetween(history, on.sent, until, isDisturbance).length > 0) return []
  return [
    {
      node: textOf(on.args.node_id),
      from: on.answered,
      until: Math.min(until, ...others.map(({sent}) => sent)),
      call: on.id,
    },
  ]
}
