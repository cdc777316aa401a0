import type {History, Observed} from '../history/history.js'
import {callsOf, effectOf, numberOf, textOf} from './effect.js'
import {checkEach, combine, groupBy, type Oracle, violation} from './oracle.js'

const keyOf = ({args}: Observed) =>
  `${args.sender_agent_id} to ${args.receiver_agent_id} with key ${args.idempotency_key}`

/** Deliveries with idempotency keys, grouped by sender, receiver and key. */
const keyed = (history: History): Map<string, Observed[]> =>
  groupBy(
    callsOf(history, 'a2a_deliver').filter(({args}) => textOf(args.idempotency_key) !== ''),
    keyOf,
  )

const rowsByKey = ({rows}: History) =>
  groupBy(
    rows.messages.filter(({idem_key}) => idem_key !== null),
    ({sender, receiver, idem_key}) => `${sender} to ${receiver} with key ${idem_key}`,
  )

/** An idempotency key of a sender and receiver creates one message, even if it is sent repeatedly. */
export const keyHasOneMessage: Oracle = (history) => {
  const rows = rowsByKey(history)
  return combine(
    checkEach(keyed(history), ([key, calls]) => {
      const accepted = calls.filter(({status}) => status === 200)
      const ids = new Map(accepted.map((call) => [numberOf(call.body?.message_id), call.id]))
      return ids.size > 1 && violation(`${key} created the messages ${[...ids.keys()].join(', ')}.`, ...ids.values())
    }),
    checkEach(rows, ([key, stored]) => stored.length > 1 && violation(`${key} is stored ${stored.length} times.`)),
  )
}

/** A different message with a used key is refused and not stored. */
export const keyIsNotReused: Oracle = (history) => {
  const rows = rowsByKey(history)
  return checkEach(keyed(history), ([key, calls]) => {
    const accepted = calls.filter(({status}) => status === 200)
    const [first] = accepted
    const other = accepted.find((call) => contentOf(call) !== (first === undefined ? '' : contentOf(first)))
    if (first !== undefined && other !== undefined)
      return violation(`${key} was accepted for two different messages.`, first.id, other.id)
    const [row] = rows.get(key) ?? []
    if (row === undefined) return false
    const isRow = (call: Observed) => call.args.payload === row.payload && call.args.message_type === row.type
    if (!calls.some((call) => isRow(call) && effectOf(call) !== undefined))
      return violation(`${key} is stored with a message that was never accepted.`, ...calls.map(({id}) => id))
    const refused = calls.find((call) => isRow(call) && call.status === 422)
    return refused !== undefined && violation(`${key} was refused for the stored message itself.`, refused.id)
  })
}

const contentOf = ({args}: Observed) => `${args.message_type}\n${args.payload}`
