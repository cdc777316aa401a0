import type {History, MessageRow} from '../history/history.js'
import {callsOf, numberOf} from './effect.js'
import {checkEach, combine, groupBy, type Oracle, type OracleResult, violation} from './oracle.js'

/** A request interrupted by a crash has its full effect or none. */
export const requestsAreAtomic: Oracle = (history) =>
  combine(rowsWereSent(history), leasesAreOfNodes(history), {
    checked: 1,
    violations:
      history.rows.integrity === 'ok' ? [] : [violation(`The database is corrupt: ${history.rows.integrity}`)],
  })

/** Every stored message was sent with the same content, at least as often as it is stored. */
function rowsWereSent(history: History): OracleResult {
  const sent = new Map<string, number>()
  for (const call of callsOf(history, 'a2a_deliver')) {
    const {sender_agent_id, receiver_agent_id, idempotency_key, message_type, payload} = call.args
    const key = JSON.stringify([sender_agent_id, receiver_agent_id, idempotency_key ?? null, message_type, payload])
    const count = call.copies.filter(({status}) => status === undefined || status < 400).length
    sent.set(key, (sent.get(key) ?? 0) + count)
  }
  return checkEach(groupBy(history.rows.messages, contentOf), ([content, rows]) => {
    const count = sent.get(content) ?? 0
    return (
      rows.length > count &&
      violation(`Message ${rows.map(({id}) => id).join(', ')} is stored but was sent ${count} times.`)
    )
  })
}

const contentOf = ({sender, receiver, idem_key, type, payload}: MessageRow) =>
  JSON.stringify([sender, receiver, idem_key, type, payload])

/** A node that has left holds no leases and no claims. */
function leasesAreOfNodes(history: History): OracleResult {
  const {rows, calls} = history
  const times = calls.map(({body}) => numberOf(body?.server_time_unix_ms)).filter(Number.isFinite)
  const now = times.reduce((latest, time) => Math.max(latest, time), 0)
  const joined = new Set(rows.nodes.filter(({left_at}) => left_at === null).map(({node_id}) => node_id))
  const held = [
    ...rows.leases
      .filter(({state, expires_at}) => state === 'granted' && expires_at > now)
      .map(({lease_id, holder}) => ({what: `Lease ${lease_id}`, holder})),
    ...rows.messages
      .filter(({lease_expires, acked_at}) => acked_at === null && (lease_expires ?? 0) > now)
      .map(({id, holder}) => ({what: `Message ${id}`, holder: holder ?? ''})),
  ]
  return checkEach(
    held,
    ({what, holder}) => !joined.has(holder) && violation(`${what} is held by ${holder}, which has left.`),
  )
}
