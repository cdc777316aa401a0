import type {History, Observed} from '../history/history.js'
import {envelopesOf} from './delegation.js'
import {callsOf, numberOf, textOf} from './effect.js'
import {checkEach, combine, groupBy, type Oracle, type OracleResult, violation} from './oracle.js'

/** A request in which a program acts as the holder of a lease or a claim. */
interface Act {
  call: Observed
  /** The lease or claim. */
  what: string
}

/** Request that extends a lease or claim if it succeeds. */
interface Extension extends Act {
  isDone: boolean
  /** The control plane has answered that the program holds it no longer. */
  isRefused: boolean
}

/** Time until a program has read a response and does not send the next request any more, ms. */
const noticeMs = 500
/** Statuses of a renewal that end a lease for its holder. */
const refused = [403, 404, 409]

/**
 * An orchestrator sends and renews under a lease, and a worker renews a claim, only until their own deadlines. These
 * are not later than one duration after the last successful request. Neither does so after the control plane has
 * refused it.
 */
export const neverAfterDeadline: Oracle = (history) => combine(leases(history), claims(history))

function leases(history: History): OracleResult {
  const observed = (operation: 'exec_lease_grant' | 'exec_lease_renew') =>
    callsOf(history, operation).filter(({isObserved}) => isObserved)
  const grants = observed('exec_lease_grant')
    .filter(({status}) => status === 200)
    .map((call) => extension(call, textOf(call.body?.lease_id), 200))
  const renewals = observed('exec_lease_renew').map((call) => extension(call, textOf(call.args.lease_id), 204))
  const envelopes = envelopesOf(history).map(({call, lease}) => ({call, what: lease}))
  return judge(history, 'lease', [...grants, ...renewals], [...renewals, ...envelopes])
}

function claims(history: History): OracleResult {
  const holderOf = ({args}: Observed, message: unknown) => `${numberOf(message)} of ${textOf(args.claimer_node_id)}`
  const claimed = callsOf(history, 'a2a_inbox')
    .filter(({isObserved, status, args}) => isObserved && status === 200 && textOf(args.claimer_node_id) !== '')
    .flatMap((call) =>
      ((call.body?.messages ?? []) as {id: number}[]).map(({id}) => extension(call, holderOf(call, id), 200)),
    )
  const renewals = callsOf(history, 'a2a_lease_renew')
    .filter(({isObserved}) => isObserved)
    .map((call) => extension(call, holderOf(call, call.args.message_id), 204))
  return judge(history, 'claim', [...claimed, ...renewals], renewals)
}

const extension = (call: Observed, what: string, ok: number): Extension => ({
  call,
  what,
  isDone: call.status === ok,
  isRefused: call.status !== undefined && refused.includes(call.status),
})

function judge({leaseMs}: History, kind: string, extensions: readonly Extension[], acts: readonly Act[]): OracleResult {
  const byHold = groupBy(extensions, ({what}) => what)
  return checkEach(acts, ({call, what}) => {
    const earlier = (byHold.get(what) ?? []).filter((each) => each.call.id !== call.id && each.call.sent < call.sent)
    const done = earlier.filter(({isDone}) => isDone)
    const last = done.at(-1)
    if (last === undefined) return false
    const lateMs = call.sent - Math.max(...done.map((each) => each.call.answered)) - leaseMs
    if (lateMs > 0)
      return violation(
        `${call.who} acted ${Math.round(lateMs)} ms after the deadline of its ${kind} ${what}.`,
        last.call.id,
        call.id,
      )
    const end = earlier.find(
      (each) => each.isRefused && each.call.answered + noticeMs <= call.sent && !renewedAfter(done, each),
    )
    return (
      end !== undefined &&
      violation(`${call.who} acted under its ${kind} ${what}, which had been refused.`, end.call.id, call.id)
    )
  })
}

/** A later grant makes its holder hold again. */
const renewedAfter = (done: readonly Extension[], end: Extension): boolean =>
  done.some(({call}) => call.sent >= end.call.sent)
