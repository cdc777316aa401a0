import {type History, messagesOf, type Observed} from '../history/history.js'
import {callsOf, effectOf, eventsBetween, isDisturbance, numberOf} from './effect.js'
import {checkEach, combine, type Finding, type Oracle, type Violation, violation} from './oracle.js'

/** A refusal for a full inbox says when to come back, and no more messages wait than may. */
export const fullInboxRefuses: Oracle = (history) => combine(saysWhen(history), neverOver(history))

const saysWhen = (history: History): Finding =>
  checkEach(
    callsOf(history, 'a2a_deliver').filter(({status}) => status === 429),
    ({id, code, retryAfter}) =>
      !(code !== undefined && Number(retryAfter) >= 0) &&
      violation('A delivery was put off without a reason or a time.', id),
  )

/** Messages that are sure to wait: delivered and answered, and nobody has asked to acknowledge them. */
function neverOver(history: History): Finding {
  const {maxMessages, rows} = history
  const dead = new Set(rows.messages.filter(({dead_at}) => dead_at !== null).map(({id}) => id))
  const firstAck = new Map<number, number>()
  for (const ack of callsOf(history, 'a2a_ack')) {
    const id = numberOf(ack.args.message_id)
    if (effectOf(ack) !== undefined && !firstAck.has(id)) firstAck.set(id, ack.sent)
  }
  const steps = new Map<number, {at: number; call: number}>()
  for (const {body, status, answered, id} of callsOf(history, 'a2a_deliver')) {
    const message = numberOf(body?.message_id)
    const before = steps.get(message)
    if (status === 200 && !dead.has(message) && (before === undefined || answered < before.at))
      steps.set(message, {at: answered, call: id})
  }
  const changes = [...steps].flatMap(([message, {at, call}]) => {
    const end = firstAck.get(message)
    if (end !== undefined && end <= at) return []
    return [{at, by: 1, call}, ...(end === undefined ? [] : [{at: end, by: -1, call}])]
  })
  let waiting = 0
  return checkEach(
    changes.toSorted((a, b) => a.at - b.at || a.by - b.by),
    ({by, call}): Violation | false => {
      waiting += by
      return by > 0 && waiting > maxMessages && violation(`${waiting} messages waited, and ${maxMessages} may.`, call)
    },
  )
}

const longestPage = 256
/** Longest that an answer may take where nothing is wrong, ms. */
const longestAnswerMs = 5000

/** Lists are no longer than was asked for, are in order, and come in time. */
export const listsAreBounded: Oracle = (history) =>
  combine(
    checkEach(
      callsOf(history, 'a2a_inbox').filter(({status}) => status === 200),
      (call) => pageFault(call) || timeFault(history, call),
    ),
    checkEach(
      callsOf(history, 'list_nodes', 'exec_lease_list', 'queue_stats').filter(({status}) => status === 200),
      (call) => listFault(call) || timeFault(history, call),
    ),
  )

function pageFault(call: Observed): Violation | false {
  const {args, id} = call
  const ids = messagesOf(call).map((message) => message.id)
  const most = args.claimer_node_id === undefined ? Math.min(numberOf(args.max_messages ?? 64), longestPage) : 1
  if (ids.length > most) return violation(`A page of ${most} had ${ids.length} messages.`, id)
  const before = numberOf(args.before_message_id ?? Infinity)
  const at = ids.findIndex((each, i) => each >= (ids[i - 1] ?? before))
  return at !== -1 && violation(`Message ${ids[at]} came after ${ids[at - 1] ?? before}.`, id)
}

function listFault({args, body, id}: Observed): Violation | false {
  const count = numberOf(body?.count)
  const most = numberOf(args.limit)
  return count > most && violation(`A list of ${most} had ${count} nodes.`, id)
}

function timeFault(history: History, {operation, sent, answered, fault, id}: Observed): Violation | false {
  const ms = Math.round(answered - sent)
  if (ms <= longestAnswerMs || fault !== undefined) return false
  const disturbances = eventsBetween(history, sent, answered, isDisturbance)
  return disturbances.length === 0 && violation(`${operation} took ${ms} ms.`, id)
}
