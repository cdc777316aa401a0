import {type MessageRow, messagesOf, type Observed} from '../history/history.js'
import {callsOf, numberOf} from './effect.js'
import {checkEach, combine, type Oracle, violation} from './oracle.js'

/** A message whose delivery was answered is there at the end, as it was sent. */
export const deliveredIsKept: Oracle = (history) => {
  const rows = new Map(history.rows.messages.map((row) => [row.id, row]))
  const accepted = callsOf(history, 'a2a_deliver').filter(({status}) => status === 200)
  return checkEach(accepted, (call) => {
    const id = numberOf(call.body?.message_id)
    const row = rows.get(id)
    if (row === undefined) return violation(`Message ${id} was accepted and is gone.`, call.id)
    return !isSame(call, row) && violation(`Message ${id} is another one than was sent.`, call.id)
  })
}

const isSame = ({args}: Observed, row: MessageRow): boolean =>
  args.sender_agent_id === row.sender &&
  args.receiver_agent_id === row.receiver &&
  args.message_type === row.type &&
  args.payload === row.payload &&
  (args.idempotency_key ?? null) === row.idem_key

/** A message that was acknowledged is never handed out or shown again, and is still acknowledged at the end. */
export const ackedIsOver: Oracle = (history) => {
  const ackedAt = new Map<number, Observed>()
  for (const call of callsOf(history, 'a2a_ack').filter(({status}) => status === 204)) {
    const id = numberOf(call.args.message_id)
    const before = ackedAt.get(id)
    if (before === undefined || call.answered < before.answered) ackedAt.set(id, call)
  }
  const shown = callsOf(history, 'a2a_inbox').flatMap((call) => messagesOf(call).map(({id}) => ({id, call})))
  const rows = new Map(history.rows.messages.map((row) => [row.id, row]))
  return combine(
    checkEach(shown, ({id, call}) => {
      const ack = ackedAt.get(id)
      return (
        ack !== undefined &&
        ack.answered <= call.sent &&
        violation(`Message ${id} was acknowledged, and came again.`, ack.id, call.id)
      )
    }),
    checkEach(
      ackedAt,
      ([id, ack]) =>
        rows.get(id)?.acked_at === null && violation(`The acknowledgement of message ${id} is lost.`, ack.id),
    ),
  )
}

/** Once nothing goes wrong any more, everything that waits reaches a node that is there to take it. */
export const pendingIsDelivered: Oracle = ({events, rows}) => {
  const drain = events.find(({event}) => event === 'drain')
  if (drain === undefined) return {checked: 0, violations: []}
  return combine(
    checkEach(
      [drain],
      ({isAnswered}) => isAnswered !== true && violation('Nodes that asked for what waits were not answered.'),
    ),
    checkEach(
      rows.messages,
      ({id, acked_at, dead_at, holder}) =>
        acked_at === null &&
        dead_at === null &&
        violation(`Message ${id} still waits${holder === null ? '' : `, claimed by ${holder}`}.`),
    ),
  )
}
