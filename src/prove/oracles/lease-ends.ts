import type {History, Observed} from '../history/history.js'
import {callsOf, textOf} from './effect.js'
import {grantedLeases} from './hold-intervals.js'
import {groupBy} from './oracle.js'

/**
 * First call after whose response a lease had certainly ended: its release, its revocation, its holder leaving, or the
 * next lease on its key.
 */
export function endOfLeases(history: History): Map<string, Observed> {
  const ends = new Map<string, Observed>()
  const note = (lease: string, call: Observed) => {
    const before = ends.get(lease)
    if (before === undefined || call.answered < before.answered) ends.set(lease, call)
  }
  for (const call of callsOf(history, 'exec_lease_release', 'admin_exec_lease_revoke'))
    if (call.status === 204) note(textOf(call.args.lease_id), call)

  const granted = [...grantedLeases(history).values()]
  const grants = callsOf(history, 'exec_lease_grant').filter(({status}) => status === 200)
  const grantsOf = groupBy(grants, ({body}) => textOf(body?.lease_id))
  const onKey = groupBy(granted, ({scopeKey}) => scopeKey)
  for (const leases of onKey.values()) {
    const inOrder = leases.toSorted((a, b) => Number(a.lease) - Number(b.lease))
    for (const [at, {lease}] of inOrder.entries()) {
      const next = inOrder[at + 1]
      for (const grant of grantsOf.get(next?.lease ?? '') ?? []) note(lease, grant)
    }
  }

  const held = groupBy(granted, ({holder}) => holder)
  for (const call of callsOf(history, 'leave')) {
    if (call.status !== 204) continue
    for (const {lease} of held.get(textOf(call.args.id)) ?? []) {
      // Only leases granted before the node left: later ones belong to its next join.
      const isBefore = grantsOf.get(lease)?.some(({answered}) => answered <= call.sent) ?? false
      if (isBefore) note(lease, call)
    }
  }
  return ends
}
