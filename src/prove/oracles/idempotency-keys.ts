import type {History, Observed} from '../history/history.js'
import {callsOf, effectOf, numberOf, textOf} from './effect.js'
import {checkEach, combine, groupBy, type Oracle, violation} from './oracle.js'

const keyOf = ({args}: Observed) => `${args.sender_agent_id} to ${args.receiver_agent_id} under ${args.idempotency_key}`

/** Deliveries under keys, by sender, receiver and key. */
const keyed = (history: History): Map<string, Observed[]> =>
  groupBy(
    callsOf(history, 'a2a_deliver').filter(({args}) => textOf(args.idempotency_key) !== ''),
    keyOf,
  )

const rowsByKey = ({rows}: History) =>
  groupBy(
    rows.messages.filter(({idem_key}) => idem_key !== null),
    ({sender, receiver, idem_key}) => `${sender} to ${receiver} under ${idem_key}`,
  )

/** A key of a sender and a receiver has one message, however often it is sent. */
export const keyHasOneMessage: Oracle = (history) => {
  const rows = rowsByKey(history)
  return combine(
    checkEach(keyed(history), ([key, calls]) => {
      const accepted = calls.filter(({status}) => status === 200)
      const ids = new Map(accepted.map((call) => [numberOf(call.body?.message_id), call.id]))
      return ids.size > 1 && violation(`${key} became the messages ${[...ids.keys()].join(', ')}.`, ...ids.values())
    }),
    checkEach(rows, ([key, stored]) => stored.length > 1 && violation(`${key} is there ${stored.length} times.`)),
  )
}

/** A key that is taken is refused to another message, of which nothing is kept. */
export const keyIsNotReused: Oracle = (history) => {
  const rows = rowsByKey(history)
  return checkEach(keyed(history), ([key, calls]) => {
    const accepted = calls.filter(({status}) => status === 200)
    const [first] = accepted
    const other = accepted.find((call) => contentOf(call) !== (first === undefined ? '' : contentOf(first)))
    if (first !== undefined && other !== undefined)
      return violation(`${key} was accepted for two messages that differ.`, first.id, other.id)
    const [row] = rows.get(key) ?? []
    if (row === undefined) return false
    const isRow = (call: Observed) => call.args.payload === row.payload && call.args.message_type === row.type
    if (!calls.some((call) => isRow(call) && effectOf(call) !== undefined))
      return violation(`${key} has what was never accepted.`, ...calls.map(({id}) => id))
    const refused = calls.find((call) => isRow(call) && call.status === 422)
    return refused !== undefined && violation(`${key} was refused to the message that it belongs to.`, refused.id)
  })
}

const contentOf = ({args}: Observed) => `${args.message_type}\n${args.payload}`
