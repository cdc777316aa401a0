import {type History, type MessageRow, messagesOf, type Observed} from '../history/history.js'
import {callsOf, eventsBetween, isDisturbance, numberOf, textOf} from './effect.js'
import {checkEach, combine, groupBy, type Oracle, type OracleResult, violation} from './oracle.js'

/** A message whose delivery was confirmed is stored at the end, unchanged. */
export const deliveredIsKept: Oracle = (history) => {
  const rows = new Map(history.rows.messages.map((row) => [row.id, row]))
  const accepted = callsOf(history, 'a2a_deliver').filter(({status}) => status === 200)
  return checkEach(accepted, (call) => {
    const id = numberOf(call.body?.message_id)
    const row = rows.get(id)
    if (row === undefined) return violation(`Message ${id} was accepted and is gone.`, call.id)
    return !isSame(call, row) && violation(`Message ${id} differs from what was sent.`, call.id)
  })
}

const isSame = ({args}: Observed, row: MessageRow): boolean =>
  args.sender_agent_id === row.sender &&
  args.receiver_agent_id === row.receiver &&
  args.message_type === row.type &&
  args.payload === row.payload &&
  (args.idempotency_key ?? null) === row.idem_key

/** An acknowledged message is never returned again and is still acknowledged at the end. */
export const ackedIsOver: Oracle = (history) => {
  const ackedAt = new Map<number, Observed>()
  for (const call of callsOf(history, 'a2a_ack').filter(({status}) => status === 204)) {
    const id = numberOf(call.args.message_id)
    const before = ackedAt.get(id)
    if (before === undefined || call.answered < before.answered) ackedAt.set(id, call)
  }
  const returned = callsOf(history, 'a2a_inbox').flatMap((call) => messagesOf(call).map(({id}) => ({id, call})))
  const rows = new Map(history.rows.messages.map((row) => [row.id, row]))
  return combine(
    checkEach(returned, ({id, call}) => {
      const ack = ackedAt.get(id)
      return (
        ack !== undefined &&
        ack.answered <= call.sent &&
        violation(`Message ${id} was returned after it was acknowledged.`, ack.id, call.id)
      )
    }),
    checkEach(
      ackedAt,
      ([id, ack]) =>
        rows.get(id)?.acked_at === null && violation(`The acknowledgement of message ${id} was lost.`, ack.id),
    ),
  )
}

/** Once faults have stopped, all pending messages are claimed and acknowledged; and new ones end the wait for them. */
export const pendingIsDelivered: Oracle = (history) => combine(allAreDelivered(history), waitersAreWoken(history))

/** Maximum time from a delivery to the response of a request that waits for it, ms. */
const maxWakeMs = 4000

/** A request of an orchestrator that waits for messages is answered soon after one has arrived. */
function waitersAreWoken(history: History): OracleResult {
  const waits = callsOf(history, 'a2a_inbox').filter(
    ({isObserved, status, fault, args}) =>
      isObserved && status === 200 && fault === undefined && args.claimer_node_id === undefined,
  )
  const delivered = groupBy(firstDeliveries(history), ({args}) => textOf(args.receiver_agent_id))
  return checkEach(waits, ({id, sent, answered, args}) => {
    const types = Array.isArray(args.message_types) ? args.message_types : []
    const first = delivered
      .get(textOf(args.receiver_agent_id))
      ?.find((each) => each.sent > sent && each.answered < answered && types.includes(each.args.message_type))
    if (first === undefined || answered - first.answered <= maxWakeMs) return false
    if (eventsBetween(history, first.sent, answered, isDisturbance).length > 0) return false
    const ms = Math.round(answered - first.answered)
    return violation(`A request that waited for messages was answered ${ms} ms after one had arrived.`, first.id, id)
  })
}

/** The first confirmed delivery of each message. */
function firstDeliveries(history: History): Observed[] {
  const first = new Map<number, Observed>()
  for (const call of callsOf(history, 'a2a_deliver')) {
    const id = numberOf(call.body?.message_id)
    const before = first.get(id)
    if (call.status === 200 && (before === undefined || call.answered < before.answered)) first.set(id, call)
  }
  return [...first.values()].sort((a, b) => a.answered - b.answered)
}

function allAreDelivered({events, rows}: History): OracleResult {
  const drain = events.find(({event}) => event === 'drain')
  if (drain === undefined) return {checked: 0, violations: []}
  return combine(
    checkEach(
      [drain],
      ({isAnswered}) => isAnswered !== true && violation('Requests for pending messages were not answered.'),
    ),
    checkEach(
      rows.messages,
      ({id, acked_at, dead_at, holder}) =>
        acked_at === null &&
        dead_at === null &&
        violation(`Message ${id} is still pending${holder === null ? '' : `, claimed by ${holder}`}.`),
    ),
  )
}
