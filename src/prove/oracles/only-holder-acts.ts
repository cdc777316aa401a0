import type {History, Observed} from '../history/history.js'
import {callsOf, effectOf, eventsBetween, isDisturbance, numberOf, textOf} from './effect.js'
import {claimHolds, clockSlew, type Granted, grantedLeases, untilOf} from './hold-intervals.js'
import {endOfLeases} from './lease-ends.js'
import {checkEach, combine, type Finding, groupBy, type Oracle, violation} from './oracle.js'

/** Only who holds a lease or a message renews it, releases it or acknowledges it, and only while it lasts. */
export const onlyHolderActs: Oracle = (history) =>
  combine(leasesAreOwn(history), endedStaysEnded(history), claimsAreOwn(history))

const held = ['exec_lease_renew', 'exec_lease_release'] as const

function leasesAreOwn(history: History): Finding {
  const granted = grantedLeases(history)
  const known = Math.max(...[...granted.keys()].map(Number), ...history.rows.leases.map(({lease_id}) => lease_id))
  return checkEach(callsOf(history, ...held), ({id, operation, status, args}) => {
    const lease = textOf(args.lease_id)
    const owner = granted.get(lease)
    const isDone = status === 204
    if (isDone && owner === undefined && Number(lease) > known)
      return violation(`${operation} of lease ${lease} was done, which there never was.`, id)
    return (
      isDone &&
      owner !== undefined &&
      owner.holder !== args.claimer_node_id &&
      violation(`${args.claimer_node_id} did ${operation} of lease ${lease} of ${owner.holder}.`, id)
    )
  })
}

function endedStaysEnded(history: History): Finding {
  const ends = endOfLeases(history)
  const expiry = expiries(history)
  const done = callsOf(history, ...held).filter(({status}) => status === 204)
  return checkEach(done, (call) => {
    const lease = textOf(call.args.lease_id)
    const end = ends.get(lease)
    if (end !== undefined && end.id !== call.id && end.answered <= call.sent)
      return violation(`${call.operation} of lease ${lease} was done after its end.`, end.id, call.id)
    const expired = expiry(lease, call)
    return (
      expired !== undefined &&
      violation(`${call.operation} of lease ${lease} was done ${expired} ms after it had expired.`, call.id)
    )
  })
}

/** Servers count whole milliseconds, and their timers are late. */
const toleranceMs = 50

/**
 * Tells by how much a lease had expired for certain when a call was sent, ms: nothing can have prolonged it, neither a
 * renewal nor a server that was started anew.
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
    const prolonging = [...(grants.get(keyOf(owner)) ?? []), ...(renewals.get(lease) ?? [])]
    const effects = prolonging.flatMap((other) => {
      const effect = other.id === call.id || other.sent >= call.answered ? undefined : effectOf(other)
      return effect === undefined ? [] : [effect]
    })
    const last = Math.max(...effects.map(({until}) => until))
    const lateMs = call.sent - last - leaseMs * (1 + 2 * clockSlew) - toleranceMs
    // A disturbance before it is forgotten once the lease was prolonged.
    const since = last - leaseMs
    const isDisturbed = eventsBetween(history, since, call.answered, isDisturbance).length > 0
    return lateMs > 0 && !isDisturbed ? Math.round(lateMs) : undefined
  }
}

const keyOf = ({scopeKey, holder}: Granted) => `${scopeKey} of ${holder}`

/** While a node is sure to have a message, nobody else renews or acknowledges it. */
function claimsAreOwn(history: History): Finding {
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
        `${args.claimer_node_id} did ${operation} of message ${message}, which ${other.holder} had.`,
        other.call,
        id,
      )
    )
  })
}
