import type {DelegationRow, History, Observed, TaskRow} from '../history/history.js'
import {callsOf, effectOf, numberOf, textOf} from './effect.js'
import {checkEach, combine, groupBy, type Oracle, type OracleResult, violation} from './oracle.js'

const envelopeType = 'remote_task_envelope'
const nameOf = ({orchestrator, id}: TaskRow) => `Task ${id} of ${orchestrator}`

/**
 * Every stored task ends once, and completes. A result of a worker counts only if the task was not delegated again after
 * it, under a lease with a higher token.
 */
export const endsOnce: Oracle = ({delegated: {tasks, delegations}}) => {
  const byTask = delegationsByTask(delegations)
  return combine(
    checkEach(tasks, (task) => {
      const {status, ends} = task
      if (status !== 'Completed') return violation(`${nameOf(task)} is ${status} at the end.`)
      return ends !== 1 && violation(`${nameOf(task)} ended ${ends} times.`)
    }),
    checkEach(
      tasks.filter(({lease}) => lease !== null),
      (task) => {
        const later = byTask.get(keyOf(task))?.find(({lease_id: lease}) => Number(lease) > Number(task.lease))
        const what = `${nameOf(task)} has the result of lease ${task.lease}, but was sent again under ${later?.lease_id}.`
        return later !== undefined && violation(what)
      },
    ),
  )
}

const keyOf = ({orchestrator, uid}: TaskRow) => `${orchestrator} ${uid}`
const delegationsByTask = (delegations: readonly DelegationRow[]) =>
  groupBy(delegations, ({orchestrator, task_uid}) => `${orchestrator} ${task_uid}`)

/**
 * The result of a task is that of one of its runs: under the lease of its accepted delegation, or of the orchestrator if
 * there is none. Each run belongs to a start of the orchestrator or to a claim of a worker.
 */
export const oneRunCounts: Oracle = (history) => {
  const {tasks, delegations, runs} = history.delegated
  const runsOf = groupBy(runs, ({tag}) => tag)
  const byTask = delegationsByTask(delegations)
  const attempts = attemptsByDelegation(history)
  return checkEach(tasks, (task) => {
    const {orchestrator, tag, run, lease, status, starts, placement} = task
    const own = runsOf.get(tag) ?? []
    const sent = byTask.get(keyOf(task)) ?? []
    const local = own.filter(({where}) => where === orchestrator)
    if (local.length > starts)
      return violation(`${nameOf(task)} ran ${local.length} times here, but started ${starts}.`)
    const claims = sent.reduce((sum, {idempotency_key: key}) => sum + (attempts.get(key) ?? 0), 0)
    if (own.length - local.length > claims)
      return violation(
        `${nameOf(task)} ran ${own.length - local.length} times on workers, which claimed it ${claims} times.`,
      )
    if (status !== 'Completed') return false
    const counted = own.find((one) => one.run === run)
    if (counted === undefined) return violation(`${nameOf(task)} has a result of none of its runs.`)
    const done = sent.filter(({state}) => state === 'done')
    if (lease === null && (done.length > 0 || counted.where !== orchestrator))
      return violation(`${nameOf(task)} counts as run here, but ${counted.where} ran it, with ${done.length} results.`)
    if (lease !== null && placement?.startsWith('local_queue'))
      return violation(`${nameOf(task)} has the result of lease ${lease}, although it had fallen back.`)
    const isOwn = done.length === 1 && done[0]?.lease_id === lease && counted.where !== orchestrator
    return lease !== null && !isOwn && violation(`${nameOf(task)} has a result of a delegation that had ended.`)
  })
}

/** How often workers may have claimed the envelope of each delegation. */
function attemptsByDelegation({rows}: History): Map<string, number> {
  const attempts = new Map<string, number>()
  for (const {type, payload, attempts: count} of rows.messages) {
    const key = type === envelopeType ? keyOfEnvelope(payload) : undefined
    if (key !== undefined) attempts.set(key, (attempts.get(key) ?? 0) + count)
  }
  return attempts
}

function keyOfEnvelope(payload: unknown): string | undefined {
  try {
    const {idempotency_key: key} = JSON.parse(String(payload)) as {idempotency_key?: unknown}
    return typeof key === 'string' ? key : undefined
  } catch {
    return undefined
  }
}

/** A delegation has at most one message, and one that has fallen back no lease. */
export const relayedOnce: Oracle = (history) => combine(oneEnvelope(history), noLeaseLeft(history))

function oneEnvelope({rows, delegated}: History): OracleResult {
  const envelopes = groupBy(
    rows.messages.filter(({type}) => type === envelopeType),
    ({payload}) => keyOfEnvelope(payload),
  )
  return checkEach(delegated.delegations, ({orchestrator, idempotency_key: key}) => {
    const stored = envelopes.get(key) ?? []
    const ids = stored.map(({id}) => id).join(', ')
    return stored.length > 1 && violation(`${orchestrator} sent the delegation ${key} as the messages ${ids}.`)
  })
}

function noLeaseLeft(history: History): OracleResult {
  const {rows, delegated, calls} = history
  const now = calls.reduce((latest, {body}) => Math.max(latest, numberOf(body?.server_time_unix_ms) || 0), 0)
  const held = new Set(
    rows.leases.filter(({state, expires_at}) => state === 'granted' && expires_at > now).map(({lease_id}) => lease_id),
  )
  return checkEach(
    delegated.delegations.filter(({lease_id: lease, state}) => lease !== null && state === 'superseded'),
    ({orchestrator, idempotency_key: key, lease_id: lease}) =>
      held.has(Number(lease)) && violation(`${orchestrator} still holds lease ${lease} of the delegation ${key}.`),
  )
}

/** Requests of a program in which it acts as the holder of a lease. */
export const envelopesOf = (history: History): {call: Observed; lease: string}[] =>
  callsOf(history, 'a2a_deliver')
    .filter(({isObserved, args}) => isObserved && args.message_type === envelopeType)
    .flatMap((call) => {
      const {exec_lease_id: lease} = JSON.parse(textOf(call.args.payload)) as {exec_lease_id?: string}
      return lease === undefined || effectOf(call) === undefined ? [] : [{call, lease}]
    })
