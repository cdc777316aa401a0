import {counted} from '../../errors/index.js'
import {type History, messagesOf, type Observed} from '../history/history.js'
import {callsOf, effectOf, eventsBetween, isDisturbance, numberOf} from './effect.js'
import {checkEach, combine, type Oracle, type OracleResult, type Violation, violation} from './oracle.js'

/** A full inbox is refused with a code and Retry-After, and an inbox never exceeds its capacity. */
export const fullInboxRefuses: Oracle = (history) => combine(refusalsAreComplete(history), neverOver(history))

const refusalsAreComplete = (history: History): OracleResult =>
  checkEach(
    callsOf(history, 'a2a_deliver').filter(({status}) => status === 429),
    ({id, code, retryAfter}) =>
      !(code !== undefined && Number(retryAfter) >= 0) &&
      violation('A delivery was refused with 429 without a code or Retry-After.', id),
  )

/** Counts messages that are certainly pending: their delivery was confirmed and no acknowledgement was sent. */
function neverOver(history: History): OracleResult {
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
  let pending = 0
  return checkEach(
    changes.toSorted((a, b) => a.at - b.at || a.by - b.by),
    ({by, call}): Violation | false => {
      pending += by
      return (
        by > 0 &&
        pending > maxMessages &&
        violation(`${pending} messages were pending; the limit is ${maxMessages}.`, call)
      )
    },
  )
}

const maxPage = 256
/** Maximum duration of a request when no fault is active, in addition to the wait that it asks for, ms. */
const maxAnswerMs = 5000

/** Lists respect the requested limit, are in order, and arrive in time. */
export const listsAreBounded: Oracle = (history) =>
  combine(
    checkEach(
      callsOf(history, 'a2a_inbox').filter(({status}) => status === 200),
      (call) => pageViolation(call) || timeViolation(history, call),
    ),
    checkEach(
      callsOf(history, 'list_nodes', 'exec_lease_list', 'queue_stats').filter(({status}) => status === 200),
      (call) => listViolation(call) || timeViolation(history, call),
    ),
  )

function pageViolation(call: Observed): Violation | false {
  const {args, id} = call
  const ids = messagesOf(call).map((message) => message.id)
  const max = args.claimer_node_id === undefined ? Math.min(numberOf(args.max_messages ?? 64), maxPage) : 1
  if (ids.length > max) return violation(`A page with a limit of ${max} had ${ids.length} messages.`, id)
  const before = numberOf(args.before_message_id ?? Infinity)
  const at = ids.findIndex((each, i) => each >= (ids[i - 1] ?? before))
  return at !== -1 && violation(`Message ${ids[at]} was listed after ${ids[at - 1] ?? before}.`, id)
}

function listViolation({args, body, id}: Observed): Violation | false {
  const count = numberOf(body?.count)
  const max = numberOf(args.limit)
  return count > max && violation(`A list with a limit of ${max} had ${counted(count, 'node')}.`, id)
}

function timeViolation(history: History, {operation, sent, answered, fault, id, args}: Observed): Violation | false {
  const ms = Math.round(answered - sent)
  if (ms <= maxAnswerMs + (numberOf(args.wait_ms) || 0) || fault !== undefined) return false
  const disturbances = eventsBetween(history, sent, answered, isDisturbance)
  return disturbances.length === 0 && violation(`${operation} took ${ms} ms.`, id)
}
