import type {History, Observed} from '../history/history.js'
import {callsOf, effectOf, eventsBetween, isDisturbance, numberOf, textOf} from './effect.js'
import {claimHolds, clockSlew, type Granted, grantedLeases, untilOf} from './hold-intervals.js'
import {endOfLeases} from './lease-ends.js'
import {checkEach, combine, groupBy, type Oracle, type OracleResult, violation} from './oracle.js'

/** Only the holder can renew, release or acknowledge a lease or message, and only before it expires. */
export const onlyHolderActs: Oracle = (history) =>
  combine(leasesAreOwn(history), endedStaysEnded(history), claimsAreOwn(history))

const held = ['exec_lease_renew', 'exec_lease_release'] as const

function leasesAreOwn(history: History): OracleResult {
  const granted = grantedLeases(history)
  const known = Math.max(...[...granted.keys()].map(Number), ...history.rows.leases.map(({lease_id}) => lease_id))
  return checkEach(callsOf(history, ...held), ({id, operation, status, args}) => {
    const lease = textOf(args.lease_id)
    const owner = granted.get(lease)
    const isDone = status === 204
    if (isDone && owner === undefined && Number(lease) > known)
      return violation(`${operation} succeeded for lease ${lease}, which never existed.`, id)
    return (
      isDone &&
      owner !== undefined &&
      owner.holder !== args.claimer_node_id &&
      violation(`${operation} by ${args.claimer_node_id} succeeded for lease ${lease} of ${owner.holder}.`, id)
    )
  })
}

function endedStaysEnded(history: History): OracleResult {
  const ends = endOfLeases(history)
  const expiry = expiries(history)
  const done = callsOf(history, ...held).filter(({status}) => status === 204)
  return checkEach(done, (call) => {
    const lease = textOf(call.args.lease_id)
    const end = ends.get(lease)
    if (end !== undefined && end.id !== call.id && end.answered <= call.sent)
      return violation(`${call.operation} succeeded for lease ${lease} after it had ended.`, end.id, call.id)
    const expired = expiry(lease, call)
    return (
      expired !== undefined &&
      violation(`${call.operation} succeeded for lease ${lease} ${expired} ms after it had expired.`, call.id)
    )
  })
}

/** Tolerance for whole milliseconds and late timers of the server. */
const toleranceMs = 50

/**
 * Returns how long a lease had certainly been expired when a call was sent, ms; undefined if a renewal or a restart of
 * the server may have extended it.
 */
function expiries(history: History): (lease: string, call: Observed) => number | undefined {
  const {leaseMs} = history
  const granted = grantedLeases(history)
  const grants = groupBy(
    callsOf(history, 'exec_lease_grant'),
    ({args}) => `${args.scope_key} of ${args.claimer_node_id}`,
  )
  const renewals = groupBy(callsOf(history, 'exec_lease_renew'), ({args}) => textOf(args.lease_id))
  return (lease, call) => {
    const owner = granted.get(lease)
    if (owner === undefined) return undefined
    const extending = [...(grants.get(keyOf(owner)) ?? []), ...(renewals.get(lease) ?? [])]
    const effects = extending.flatMap((other) => {
      const effect = other.id === call.id || other.sent >= call.answered ? undefined : effectOf(other)
      return effect === undefined ? [] : [effect]
    })
    const last = Math.max(...effects.map(({until}) => until))
    const lateMs = call.sent - last - leaseMs * (1 + 2 * clockSlew) - toleranceMs
    // Disturbances before the last extension have no effect any more.
    const since = last - leaseMs
    const isDisturbed = eventsBetween(history, since, call.answered, isDisturbance).length > 0
    return lateMs > 0 && !isDisturbed ? Math.round(lateMs) : undefined
  }
}

const keyOf = ({scopeKey, holder}: Granted) => `${scopeKey} of ${holder}`

/** While a node certainly holds a message, no other node can renew or acknowledge it. */
function claimsAreOwn(history: History): OracleResult {
  const holds = groupBy(claimHolds(history), ({what}) => what)
  return checkEach(callsOf(history, 'a2a_ack', 'a2a_lease_renew'), (call) => {
    const {id, operation, status, args, sent, answered} = call
    if (status !== 204) return false
    const message = String(numberOf(args.message_id))
    const other = holds
      .get(message)
      ?.find((hold) => hold.holder !== args.claimer_node_id && hold.from <= sent && untilOf(hold, id) >= answered)
    return (
      other !== undefined &&
      violation(
        `${operation} by ${args.claimer_node_id} succeeded for message ${message}, held by ${other.holder}.`,
        other.call,
        id,
      )
    )
  })
}
